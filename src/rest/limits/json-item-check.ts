// Finds lists and maps that are too long in the text of JSON. What JSON.parse makes of a long list is thrown away when the list is
// refused, so the text is read up to the first item too many instead, along the fields of its message. It need not be valid: what is
// wrong with it otherwise is left to the parser.
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { shorten } from "../errors/rest-error.ts";
import { hasJsonFormOfItsOwn } from "../json/json-forms.ts";
import { endOfString, readKey } from "../json/json-text.ts";
import { type Excess, type ItemLimit, type ItemLimitOf, maxUncheckedLength, tooMany } from "./item-limit.ts";

/** @throws RestError FIELD_INVALID that names the first list or map that has too many items. */
type JsonItemCheck = (text: string) => void;

interface MessageShape {
  readonly kind: "message";
  /** By JSON names and proto names. */
  readonly fields: ReadonlyMap<string, { readonly name: string; readonly shape: Shape | undefined }>;
}

interface ItemsShape {
  readonly kind: "list" | "map";
  readonly limit: ItemLimit | undefined;
  readonly item: Shape | undefined;
}

/** What the JSON of a field, an item or a value has in it. */
type Shape = MessageShape | ItemsShape;

/**
 * Returns the check of the JSON of a message, or of one field of it. Its shape is compiled for the first text that is long.
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
  return (text) => {
    if (text.length <= maxUncheckedLength) return;
    const shape = field === undefined ? shapes.ofMessage(desc) : shapes.ofField(field);
    const excess = shape && findExcess(text, shape, maxDepth);
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
    const fields = new Map<string, { name: string; shape: Shape | undefined }>();
    const shape: Shape = { kind: "message", fields };
    // A message may contain itself.
    known.set(desc, shape);
    for (const field of desc.fields) {
      const compiled = { name: field.name, shape: ofField(field) };
      fields.set(field.name, compiled).set(field.jsonName, compiled);
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

const openBrace = 0x7b;
const openBracket = 0x5b;

/** An object or an array that has not ended. */
interface Level {
  /** Undefined for what is not looked at. */
  readonly shape: Shape | undefined;
  readonly max: number;
  /** The items, or entries, that have ended. */
  count: number;
  /** Where the last key starts. */
  keyStart: number;
}

function findExcess(text: string, root: Shape, maxDepth: number): Excess | undefined {
  const open: Level[] = [];
  let level: Level | undefined;
  let stringStart = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    switch (unit) {
      case 0x22: // "
        stringStart = at;
        at = endOfString(text, at);
        break;
      case 0x3a: // :
        if (level !== undefined) level.keyStart = stringStart;
        break;
      case 0x2c: // ,
        if (level !== undefined && ++level.count >= level.max) return toExcess(text, open);
        break;
      case openBrace:
      case openBracket: {
        if (open.length >= maxDepth) return undefined;
        const expected = level === undefined ? root : shapeWithin(text, level);
        const shape =
          expected !== undefined && (expected.kind === "list") === (unit === openBracket) ? expected : undefined;
        level = { shape, max: maxOf(shape), count: 0, keyStart: 0 };
        open.push(level);
        break;
      }
      case 0x7d: // }
      case 0x5d: // ]
        open.pop();
        level = open.at(-1);
        break;
    }
  }
  return undefined;
}

function maxOf(shape: Shape | undefined): number {
  return (shape?.kind !== "message" && shape?.limit?.max) || Number.POSITIVE_INFINITY;
}

/** Returns the shape of the value that starts in an object or an array. */
function shapeWithin(text: string, { shape, keyStart }: Level): Shape | undefined {
  return shape?.kind === "message" ? shape.fields.get(keyAt(text, keyStart))?.shape : shape?.item;
}

/** @param open the last one is too long. */
function toExcess(text: string, open: readonly Level[]): Excess | undefined {
  const last = open.at(-1)?.shape;
  if (last === undefined || last.kind === "message" || last.limit === undefined) return undefined;
  const path = open.slice(0, -1).map((level) => pathWithin(text, level));
  return { path: path.join(""), limit: last.limit };
}

/** Returns the path of the value that starts in an object or an array. */
function pathWithin(text: string, { shape, count, keyStart }: Level): string {
  switch (shape?.kind) {
    case "message":
      return `.${shape.fields.get(keyAt(text, keyStart))?.name}`;
    case "map":
      return `[${JSON.stringify(shorten(keyAt(text, keyStart)))}]`;
    default:
      return `[${count}]`;
  }
}

function keyAt(text: string, start: number): string {
  return readKey(text.slice(start, endOfString(text, start) + 1));
}
