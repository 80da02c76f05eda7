import {
  create,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonValue,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { type Draw, pick } from "./draw.ts";

const deepest = 3;

/** Draws a message with a few fields set, recursively. */
export function drawMessage(draw: Draw, desc: DescMessage, depth = 0): Message {
  const message = reflect(desc, create(desc));
  for (let left = draw(5); left > 0 && desc.fields.length > 0; left--) {
    const field = desc.fields[draw(desc.fields.length)];
    if (field !== undefined) drawField(draw, message, field, depth);
  }
  return message.message;
}

function drawField(draw: Draw, message: ReflectMessage, field: DescField, depth: number): void {
  // Any needs a registry, which bindings do not have.
  if (field.message?.typeName === "google.protobuf.Any" || (field.message !== undefined && depth >= deepest)) return;
  if (field.fieldKind === "list") {
    const list = message.get(field);
    for (let left = draw(4); left > 0; left--) list.add(drawValue(draw, field, depth));
  } else if (field.fieldKind === "map") {
    const map = message.get(field);
    for (let left = draw(4); left > 0; left--) {
      map.set(drawScalar(draw, field.mapKey), drawValue(draw, field, depth));
    }
  } else {
    message.set(field, drawValue(draw, field, depth));
  }
}

/** Draws a value of the field, or an item of it, in the form that reflection accepts. */
function drawValue(draw: Draw, field: DescField, depth: number): unknown {
  if (field.message !== undefined) return reflect(field.message, drawMessageValue(draw, field.message, depth));
  if (field.enum === undefined) return drawScalar(draw, field.scalar ?? ScalarType.STRING);
  const known = field.enum.values[draw(field.enum.values.length)]?.number ?? 0;
  // In JSON, NullValue has one value only, whatever its number.
  const mayBeUnknown = field.enum.open && field.enum.typeName !== "google.protobuf.NullValue";
  return mayBeUnknown && draw(8) === 7 ? pick(draw, [99, -1, 2147483647]) : known;
}

function drawMessageValue(draw: Draw, desc: DescMessage, depth: number): Message {
  switch (desc.typeName) {
    case "google.protobuf.Timestamp":
      return create(desc, {
        seconds: pick(draw, [0n, 1767225600n, -1n, 253402300799n, -62135596800n]),
        nanos: drawNanos(draw),
      });
    case "google.protobuf.Duration":
      return create(desc, { seconds: pick(draw, [0n, 1n, 315576000000n]), nanos: drawNanos(draw) });
    case "google.protobuf.FieldMask":
      return create(desc, {
        paths: Array.from({ length: draw(3) }, () => pick(draw, ["title", "author_info.first", "a"])),
      });
    case "google.protobuf.Struct":
      return fromJson(desc, drawObject(draw, 0));
    case "google.protobuf.ListValue":
      return fromJson(desc, [drawJson(draw, 0), drawJson(draw, 0)]);
    case "google.protobuf.Value":
      return fromJson(desc, drawJson(draw, 0));
    default:
      return desc.file.proto.name === "google/protobuf/wrappers.proto"
        ? create(desc, { value: drawScalar(draw, desc.fields[0]?.scalar ?? ScalarType.STRING) })
        : drawMessage(draw, desc, depth + 1);
  }
}

function drawNanos(draw: Draw): number {
  return pick(draw, [0, 500_000_000, 1, 999_999_999, 120_000]);
}

function drawJson(draw: Draw, depth: number): JsonValue {
  const form = draw(depth > 1 ? 4 : 6);
  if (form === 4) return drawObject(draw, depth + 1);
  if (form === 5) return Array.from({ length: draw(3) }, () => drawJson(draw, depth + 1));
  return [drawText(draw), pick(draw, [0, 1.5, -7, 1e21]), draw(2) === 1, null][form] ?? null;
}

function drawObject(draw: Draw, depth: number): Record<string, JsonValue> {
  return Object.fromEntries(Array.from({ length: draw(3) }, () => [drawText(draw), drawJson(draw, depth)]));
}

const texts: [string, ...string[]] = [
  "",
  ...listOf("a|b c|a/b|%2F|%2f|%|%25|+|a+b|&x=y|a=b|?|#|;|a:do|:|é|世界|😀|..|.|*|**|{x}|[a]|a]b|]|//|a//b"),
  ...listOf('__proto__|constructor|"\\|null|true|0|-1|NaN|\u0000|\n|\u2028|\ufeff|\ufeffa|\ud7ff\ue000'),
  "x".repeat(300),
];

function listOf(text: string): string[] {
  return text.split("|");
}

/** Text that is significant to some encoding, or a few random characters. */
export function drawText(draw: Draw): string {
  if (draw(3) < 2) return pick(draw, texts);
  return Array.from({ length: draw(6) }, () => String.fromCodePoint(draw(0xd800))).join("");
}

/** Returns the form that reflection accepts, with 64-bit integers as bigint. */
function drawScalar(draw: Draw, type: ScalarType): string | boolean | number | bigint | Uint8Array {
  switch (type) {
    case ScalarType.STRING:
      return drawText(draw);
    case ScalarType.BOOL:
      return draw(2) === 1;
    case ScalarType.BYTES:
      return Uint8Array.from({ length: draw(6) }, () => draw(256));
    case ScalarType.DOUBLE:
      return pick(draw, [
        0,
        0.1,
        -1.5,
        1e21,
        5e-324,
        1.7976931348623157e308,
        Infinity,
        -Infinity,
        NaN,
        draw(65536) / 7,
      ]);
    case ScalarType.FLOAT:
      return pick(draw, [
        0,
        Math.fround(0.1),
        3.4028234663852886e38,
        Infinity,
        -Infinity,
        NaN,
        Math.fround(draw(65536) / 7),
      ]);
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return pick(draw, [0, 1, -1, 2147483647, -2147483648, draw(65536) - 32768]);
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return pick(draw, [0, 1, 4294967295, draw(65536)]);
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return pick(draw, [0n, 1n, -1n, 9223372036854775807n, -9223372036854775808n, BigInt(draw(65536)) ** 3n]);
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return pick(draw, [0n, 1n, 18446744073709551615n, BigInt(draw(65536)) ** 3n]);
  }
}
