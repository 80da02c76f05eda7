// Finds lists and maps that are too long in a message in Protobuf's binary format, before their items are made. Reads as protobuf-es
// does: a known field by its type, whatever the wire type of its tag, and an unknown one by its wire type. What is malformed is left
// to protobuf-es, which refuses it.
import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import {
  type Excess,
  type ItemLimit,
  type ItemLimitOf,
  maxUncheckedLength,
  tooMany,
} from "../../rest/limits/item-limit.ts";

/** @throws RestError FIELD_INVALID that names the first list or map that has too many items. */
type BinaryItemCheck = (bytes: Uint8Array) => void;

/** The fields of a message by number. */
type Shape = ReadonlyMap<number, FieldShape>;

interface FieldShape {
  readonly name: string;
  readonly isList: boolean;
  readonly wireType: WireType;
  readonly limit: ItemLimit | undefined;
  /** Of the messages in the field. Those in maps are left to the validation of the message. */
  readonly shape: Shape | undefined;
}

/** The items counted so far. A message in a field may come in several parts, which are merged, so their counts add up. */
interface Tally {
  readonly items: Map<FieldShape, number>;
  readonly parts: Map<FieldShape, Tally>;
}

/** How deep protobuf-es reads. */
const maxDepth = 100;

/**
 * Returns the check of messages of a type. Its shape is compiled for the first one that is long. Each entry of a map counts, also one
 * that replaces another.
 */
export function compileBinaryItemCheck(desc: DescMessage, itemLimitOf: ItemLimitOf): BinaryItemCheck {
  let shape: Shape | undefined;
  return (bytes) => {
    if (bytes.length <= maxUncheckedLength) return;
    shape ??= compileShape(desc, itemLimitOf);
    const excess = findExcess(bytes, shape);
    if (excess !== undefined) throw tooMany(excess);
  };
}

function compileShape(desc: DescMessage, itemLimitOf: ItemLimitOf, known = new Map<DescMessage, Shape>()): Shape {
  const seen = known.get(desc);
  if (seen !== undefined) return seen;
  const shape = new Map<number, FieldShape>();
  // A message may contain itself.
  known.set(desc, shape);
  for (const field of desc.fields) {
    const { name, number, fieldKind, message } = field;
    const isSearched = fieldKind !== "map" && message !== undefined && hasLimits(message, itemLimitOf);
    shape.set(number, {
      name,
      isList: fieldKind === "list",
      wireType: wireTypeOf(field),
      limit: itemLimitOf(field),
      shape: isSearched ? compileShape(message, itemLimitOf, known) : undefined,
    });
  }
  return shape;
}

/** Reports whether a message, or one in it, has a list or a map with a limit. */
function hasLimits(desc: DescMessage, itemLimitOf: ItemLimitOf, seen = new Set<DescMessage>()): boolean {
  if (seen.has(desc)) return false;
  seen.add(desc);
  return desc.fields.some(
    (field) =>
      itemLimitOf(field) !== undefined || (field.message !== undefined && hasLimits(field.message, itemLimitOf, seen)),
  );
}

/** Returns the wire type of a value, or of an item that is not packed. */
function wireTypeOf(field: DescField): WireType {
  if (field.fieldKind === "map") return WireType.LengthDelimited;
  if (field.message !== undefined) return isDelimited(field) ? WireType.StartGroup : WireType.LengthDelimited;
  switch (field.scalar) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return WireType.LengthDelimited;
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
    case ScalarType.FLOAT:
      return WireType.Bit32;
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
    case ScalarType.DOUBLE:
      return WireType.Bit64;
    default:
      return WireType.Varint;
  }
}

function isDelimited(field: DescField): boolean {
  return "delimitedEncoding" in field && field.delimitedEncoding;
}

function findExcess(bytes: Uint8Array, root: Shape): Excess | undefined {
  const reader = new BinaryReader(bytes);

  function findInMessage(shape: Shape, end: number, tally: Tally, depth: number): Excess | undefined {
    while (reader.pos < end) {
      const [number, given] = reader.tag();
      const field = shape.get(number);
      if (field === undefined) {
        passValue(reader, given, number);
        continue;
      }
      const isPacked = field.isList && given === WireType.LengthDelimited && field.wireType !== given;
      const excess = isPacked ? passPacked(field, tally) : findInField(field, number, tally, depth);
      if (excess !== undefined) return { ...excess, path: `.${field.name}${excess.path}` };
    }
    return undefined;
  }

  function findInField(field: FieldShape, number: number, tally: Tally, depth: number): Excess | undefined {
    const excess = count(field, tally);
    if (excess !== undefined) return excess;
    const { shape, wireType, isList } = field;
    if (shape === undefined || wireType !== WireType.LengthDelimited || depth >= maxDepth) {
      passValue(reader, wireType, number);
      return undefined;
    }
    const length = reader.uint32();
    const found = findInMessage(shape, reader.pos + length, isList ? createTally() : partOf(tally, field), depth + 1);
    if (found === undefined || !isList) return found;
    return { ...found, path: `[${(tally.items.get(field) ?? 1) - 1}]${found.path}` };
  }

  function passPacked(field: FieldShape, tally: Tally): Excess | undefined {
    const length = reader.uint32();
    const end = reader.pos + length;
    while (reader.pos < end) {
      const excess = count(field, tally);
      if (excess !== undefined) return excess;
      passValue(reader, field.wireType);
    }
    return undefined;
  }

  try {
    return findInMessage(root, bytes.length, createTally(), 1);
  } catch {
    // The reader found it malformed.
    return undefined;
  }
}

/** Counts an item of a list or an entry of a map. Returns the excess if it is one too many. */
function count(field: FieldShape, { items }: Tally): Excess | undefined {
  const { limit, isList } = field;
  if (limit === undefined && !isList) return undefined;
  const before = items.get(field) ?? 0;
  items.set(field, before + 1);
  return limit !== undefined && before >= limit.max ? { path: "", limit } : undefined;
}

function createTally(): Tally {
  return { items: new Map(), parts: new Map() };
}

function partOf({ parts }: Tally, field: FieldShape): Tally {
  const tally = parts.get(field) ?? createTally();
  parts.set(field, tally);
  return tally;
}

/** @throws Error if the value is malformed. */
function passValue(reader: BinaryReader, wireType: WireType, number?: number): void {
  if (wireType !== WireType.LengthDelimited) {
    reader.skip(wireType, number);
    return;
  }
  // `skip` would make a view of the bytes.
  const length = reader.uint32();
  reader.pos += length;
}
