import { create, type DescField, isMessage, type Message, toJson } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { StructSchema } from "@bufbuild/protobuf/wkt";

/**
 * The functions of this module access the fields of generated messages directly, in the representation of protobuf-es: by
 * local name; a member of a oneof as `{case, value}`; a 64-bit integer as a bigint or, with jstype, as a string.
 */
type Fields = Record<string, unknown>;

interface OneofValue {
  readonly case: string | undefined;
  readonly value?: unknown;
}

type Setter = (message: Message, value: unknown) => void;

function fieldsOf(message: Message): Fields {
  return message;
}

/** Compiles the setter of a singular field. It takes values as returned by the parsers of `compileTextParser`. */
export function compileSetter(field: DescField): Setter {
  const name = field.localName;
  if (field.message !== undefined) {
    const desc = field.message;
    // Wrappers and Structs are not always held as messages; reflection handles that.
    return (message, value) => reflect(field.parent, message).set(field, reflect(desc, value as Message));
  }
  const oneof = field.oneof?.localName;
  if (oneof !== undefined) return (message, value) => (fieldsOf(message)[oneof] = { case: name, value });
  return (message, value) => (fieldsOf(message)[name] = value);
}

export function addListItem(message: Message, field: DescField, value: unknown): void {
  (fieldsOf(message)[field.localName] as unknown[]).push(toElement(value));
}

/** Sets a map entry, treating `__proto__` as an ordinary key. */
export function setMapEntry(message: Message, field: DescField, key: string, value: unknown): void {
  const map = fieldsOf(message)[field.localName] as object;
  const element = toElement(value);
  Object.defineProperty(map, key, { value: element, enumerable: true, configurable: true, writable: true });
}

/** Converts a Struct to plain JSON, which is how lists and maps hold it. */
function toElement(value: unknown): unknown {
  return isMessage(value, StructSchema) ? toJson(StructSchema, value) : value;
}

export function hasMapEntry(message: Message, field: DescField, key: string): boolean {
  return Object.hasOwn(fieldsOf(message)[field.localName] as object, key);
}

/** Returns the value of a singular field; undefined if it is a member of a oneof that is not set. */
export function readField(message: Message, field: DescField): unknown {
  if (field.oneof === undefined) return fieldsOf(message)[field.localName];
  const oneof = fieldsOf(message)[field.oneof.localName] as OneofValue;
  return oneof.case === field.localName ? oneof.value : undefined;
}

/** Returns the proto name of the member of `field`'s oneof that is set, if it is not `field` itself. */
export function otherOneofMember(message: Message, field: DescField): string | undefined {
  if (field.oneof === undefined) return undefined;
  const oneof = fieldsOf(message)[field.oneof.localName] as OneofValue;
  return oneof.case === field.localName
    ? undefined
    : field.oneof.fields.find((member) => member.localName === oneof.case)?.name;
}

/** Returns the message in a singular message field. Creates and sets it if the field is not set. */
export function childOf(message: Message, field: DescField): Message {
  const there = readField(message, field) as Message | undefined;
  if (there !== undefined || field.message === undefined) return there ?? message;
  const child = create(field.message);
  if (field.oneof === undefined) fieldsOf(message)[field.localName] = child;
  else fieldsOf(message)[field.oneof.localName] = { case: field.localName, value: child };
  return child;
}
