// Finds lists and maps that are too long in the bytes of JSON, before the bytes are decoded and parsed: all that would be thrown away with
// a list that is refused. The bytes are read up to the first item too many, along the fields of their message. They need not be valid
// JSON; other errors are left to the parser.
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { shorten } from "../errors/rest-error.ts";
import { hasJsonFormOfItsOwn } from "../json/json-forms.ts";
import { readKey } from "../json/read-key.ts";
import { type Excess, type ItemLimit, type ItemLimitOf, maxUncheckedLength, tooMany } from "./item-limit.ts";

/** @throws RestError FIELD_INVALID that names the first list or map that has too many items. */
export type JsonItemCheck = (bytes: Buffer) => void;

interface FieldShape {
  readonly name: string;
  /** The key in JSON, with its quotes. */
  readonly key: Buffer;
  readonly shape: Shape;
}

interface MessageShape {
  readonly kind: "message";
  /** The fields that hold messages, lists or maps, once for each of their names in JSON. */
  readonly fields: FieldShape[];
}

interface ItemsShape {
  readonly kind: "list" | "map";
  readonly limit: ItemLimit | undefined;
  readonly item: Shape | undefined;
}

/** The structure of the JSON of a field, an item or a value. */
type Shape = MessageShape | ItemsShape;

/**
 * Returns the check of the JSON of a message, or of one field of it. Its shape is compiled for the first body that is long.
 *
 * @param field the field whose JSON it is; undefined for that of the whole message.
 * @param maxDepth the maximum nesting depth. What is nested deeper is not looked at.
 */
export function compileJsonItemCheck(
  desc: DescMessage,
  field: DescField | undefined,
  itemLimitOf: ItemLimitOf,
  maxDepth: number,
): JsonItemCheck {
  const shapes = createShapes(itemLimitOf);
  return (bytes) => {
    if (bytes.length <= maxUncheckedLength) return;
    const shape = field === undefined ? shapes.ofMessage(desc) : shapes.ofField(field);
    const excess = shape && findExcess(bytes, shape, maxDepth);
    if (excess === undefined) return;
    throw tooMany(field === undefined ? excess : { ...excess, path: `.${field.name}${excess.path}` });
  };
}

function createShapes(itemLimitOf: ItemLimitOf) {
  const known = new Map<DescMessage, MessageShape>();

  function ofMessage(desc: DescMessage): Shape | undefined {
    if (hasJsonFormOfItsOwn(desc)) return undefined;
    const seen = known.get(desc);
    if (seen !== undefined) return seen;
    const shape: MessageShape = { kind: "message", fields: [] };
    // A message may contain itself.
    known.set(desc, shape);
    // Of two fields with the same name, the later one is meant.
    const byKey = new Map(
      desc.fields.flatMap((field) => [
        [field.name, field],
        [field.jsonName, field],
      ]),
    );
    for (const [key, field] of byKey) {
      const inner = ofField(field);
      if (inner !== undefined) shape.fields.push({ name: field.name, key: Buffer.from(`"${key}"`), shape: inner });
    }
    return shape;
  }

  function ofField(field: DescField): Shape | undefined {
    const item = field.message && ofMessage(field.message);
    if (field.fieldKind !== "list" && field.fieldKind !== "map") return item;
    return { kind: field.fieldKind, limit: itemLimitOf(field), item };
  }

  return { ofMessage, ofField };
}

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const openBracket = 0x5b;

/** An object or an array that has not ended. */
interface Level {
  /** Undefined for what is not looked at. */
  readonly shape: Shape | undefined;
  readonly max: number;
  /** The items, or entries, that have ended. */
  count: number;
  /** Where the last key starts; none if it has been looked up. */
  keyStart: number;
  /** The field of a message in which the last object or array started. */
  field: FieldShape | undefined;
}

const none = -1;

function findExcess(bytes: Buffer, root: Shape, maxDepth: number): Excess | undefined {
  const open: Level[] = [];
  let level: Level | undefined;
  let stringStart = none;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    switch (byte) {
      case quote:
        stringStart = at;
        at = endOfString(bytes, at);
        break;
      case 0x3a: // :
        if (level !== undefined && stringStart !== none) level.keyStart = stringStart;
        stringStart = none;
        break;
      case 0x2c: // ,
        if (level !== undefined && ++level.count >= level.max) return toExcess(bytes, open);
        break;
      case openBrace:
      case openBracket: {
        if (open.length >= maxDepth) return undefined;
        const expected = level === undefined ? root : shapeWithin(bytes, level);
        const isExpected = expected !== undefined && (expected.kind === "list") === (byte === openBracket);
        const shape = isExpected ? expected : undefined;
        level = { shape, max: maxOf(shape), count: 0, keyStart: none, field: undefined };
        open.push(level);
        break;
      }
      case 0x7d: // }
      case 0x5d: // ]
        open.pop();
        level = open.at(-1);
        break;
      default:
        break;
    }
  }
  return undefined;
}

/** Returns the offset of the closing quote of the string at `start`; that of the end, or behind it, if there is none. */
function endOfString(bytes: Buffer, start: number): number {
  let at = start + 1;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === quote) break;
    at += byte === backslash ? 2 : 1;
  }
  return at;
}

function maxOf(shape: Shape | undefined): number {
  if (shape === undefined || shape.kind === "message") return Number.POSITIVE_INFINITY;
  return shape.limit?.max ?? Number.POSITIVE_INFINITY;
}

/** Returns the shape of the object or array that starts in another one. */
function shapeWithin(bytes: Buffer, level: Level): Shape | undefined {
  const { shape, keyStart } = level;
  if (shape?.kind !== "message") return shape?.item;
  level.field = keyStart === none ? undefined : findField(bytes, shape, keyStart);
  // Text that is no JSON may have many brackets after one long key.
  level.keyStart = none;
  return level.field?.shape;
}

function findField(bytes: Buffer, { fields }: MessageShape, keyStart: number): FieldShape | undefined {
  const end = endOfString(bytes, keyStart) + 1;
  for (const field of fields) if (isSame(bytes, keyStart, end, field.key)) return field;
  if (!bytes.subarray(keyStart, end).includes(backslash)) return undefined;
  const key = Buffer.from(`"${keyAt(bytes, keyStart)}"`);
  return fields.find((field) => field.key.equals(key));
}

function isSame(bytes: Buffer, start: number, end: number, key: Buffer): boolean {
  if (end - start !== key.length) return false;
  for (let index = 0; index < key.length; index++) if (bytes[start + index] !== key[index]) return false;
  return true;
}

function keyAt(bytes: Buffer, start: number): string {
  return readKey(bytes.toString("utf8", start, endOfString(bytes, start) + 1));
}

/** @param open the last one is too long. */
function toExcess(bytes: Buffer, open: readonly Level[]): Excess | undefined {
  const last = open.at(-1)?.shape;
  if (last === undefined || last.kind === "message" || last.limit === undefined) return undefined;
  const path = open.slice(0, -1).map((level) => pathWithin(bytes, level));
  return { path: path.join(""), limit: last.limit };
}

/** Returns the path of the object or array that started last in another one. */
function pathWithin(bytes: Buffer, { shape, count, keyStart, field }: Level): string {
  switch (shape?.kind) {
    case "message":
      return `.${field?.name}`;
    case "map":
      return `[${JSON.stringify(shorten(keyAt(bytes, keyStart)))}]`;
    default:
      return `[${count}]`;
  }
}
