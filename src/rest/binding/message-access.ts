import { create, type DescField, isMessage, type Message, toJson } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { StructSchema } from "@bufbuild/protobuf/wkt";

/**
 * Direct access to the fields of generated messages, compiled for a field. It knows how protobuf-es holds them: by local
 * name; a member of a oneof as `{case, value}`; 64-bit integers as a bigint or, with jstype, a string.
 */
type Fields = Record<string, unknown>;

interface OneofValue {
  readonly case: string | undefined;
  readonly value?: unknown;
}

type Setter = (message: Message, value: unknown) => void;

/** The fields of a message, by local name. */
function fieldsOf(message: Message): Fields {
  return message;
}

/** Compiles the setter of a singular field. The value is as `compileTextParser` makes it. */
export function compileSetter(field: DescField): Setter {
  const name = field.localName;
  if (field.message !== undefined) {
    const desc = field.message;
    // Wrappers and Structs are not held as messages everywhere; reflection knows.
    return (message, value) => reflect(field.parent, message).set(field, reflect(desc, value as Message));
  }
  const oneof = field.oneof?.localName;
  if (oneof !== undefined) return (message, value) => (fieldsOf(message)[oneof] = { case: name, value });
  return (message, value) => (fieldsOf(message)[name] = value);
}

/** Appends to a list field. */
export function addListItem(message: Message, field: DescField, value: unknown): void {
  (fieldsOf(message)[field.localName] as unknown[]).push(toElement(value));
}

/** Sets a map entry; `__proto__` is a key like any other. */
export function setMapEntry(message: Message, field: DescField, key: string, value: unknown): void {
  const map = fieldsOf(message)[field.localName] as object;
  const element = toElement(value);
  Object.defineProperty(map, key, { value: element, enumerable: true, configurable: true, writable: true });
}

/** Lists and maps hold a Struct as plain JSON. */
function toElement(value: unknown): unknown {
  return isMessage(value, StructSchema) ? toJson(StructSchema, value) : value;
}

/** Whether the map field has the entry. */
export function hasMapEntry(message: Message, field: DescField, key: string): boolean {
  return Object.hasOwn(fieldsOf(message)[field.localName] as object, key);
}

/** The value of a singular scalar or enum field; undefined when another member of its oneof is set, or none. */
export function readField(message: Message, field: DescField): unknown {
  if (field.oneof === undefined) return fieldsOf(message)[field.localName];
  const oneof = fieldsOf(message)[field.oneof.localName] as OneofValue;
  return oneof.case === field.localName ? oneof.value : undefined;
}

/** The member of `field`'s oneof that is set, when it is another one. */
export function otherOneofMember(message: Message, field: DescField): string | undefined {
  if (field.oneof === undefined) return undefined;
  const oneof = fieldsOf(message)[field.oneof.localName] as OneofValue;
  return oneof.case === field.localName
    ? undefined
    : field.oneof.fields.find((member) => member.localName === oneof.case)?.name;
}

/** The message in a singular message field, which is made when it is not there. */
export function childOf(message: Message, field: DescField): Message {
  const there = readField(message, field) as Message | undefined;
  if (there !== undefined || field.message === undefined) return there ?? message;
  const child = create(field.message);
  if (field.oneof === undefined) fieldsOf(message)[field.localName] = child;
  else fieldsOf(message)[field.oneof.localName] = { case: field.localName, value: child };
  return child;
}
