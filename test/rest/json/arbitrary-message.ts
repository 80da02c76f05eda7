import {
  create,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonValue,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { AnySchema, anyPack, isWrapperDesc, type Any, TimestampSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";

/** Texts that are difficult for JSON or UTF-8. */
const difficultText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.constantFrom("", '"', "\\", "\u0000", "\u2028", "\u007f", "é", "😀", "\ud800", "a\udc00", "__proto__", "toJSON"),
);

/** Values of the wrong type for most fields. */
const misfit: fc.Arbitrary<unknown> = fc.constantFrom<unknown>(true, 1, 1.5, 7n, "x", [], {}, Number.NaN, new Date(0));

const int32 = fc.oneof(fc.integer(), fc.constantFrom(0, -0, -1, 2 ** 31 - 1, -(2 ** 31)));
const uint32 = fc.oneof(fc.nat(), fc.constantFrom(0, 2 ** 32 - 1));
const int64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(0n, -1n, 2n ** 53n, 2n ** 63n - 1n, -(2n ** 63n)),
);
const uint64 = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.constantFrom(0n, 2n ** 64n - 1n));
/** Includes views of a part of a buffer. */
const bytes = fc.uint8Array({ maxLength: 12 }).map((all) => all.subarray(all[0] === undefined ? 0 : all[0] % 3));

function scalar(type: ScalarType, text = difficultText): fc.Arbitrary<unknown> {
  switch (type) {
    case ScalarType.STRING:
      return text;
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.BYTES:
      return bytes;
    case ScalarType.DOUBLE:
      return fc.oneof(fc.double(), fc.constantFrom(-0, 1e21, 1e-7));
    case ScalarType.FLOAT:
      return fc.float();
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return uint32;
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return int64;
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return uint64;
    default:
      return int32;
  }
}

const nanos = fc.oneof(
  fc.constantFrom(0, 1, 999_999_999, 120_000_000, 123_456_000, 1_000_000, 1000),
  fc.nat({ max: 999_999_999 }),
);
const seconds = fc.oneof(
  { weight: 8, arbitrary: fc.bigInt({ min: -62_135_596_800n, max: 253_402_300_799n }) },
  { weight: 2, arbitrary: fc.bigInt({ min: 1_700_000_000n, max: 1_700_100_000n }) },
  { weight: 1, arbitrary: fc.constantFrom(-62_135_596_800n, 253_402_300_799n, 0n, -1n) },
);

interface MessageOptions {
  /** The maximum nesting of messages. */
  readonly depth: number;
  /** The percentage of values that cannot be encoded. */
  readonly broken: number;
  /** What strings are drawn from. */
  readonly text?: fc.Arbitrary<string>;
}

/** Messages of a type. They are valid if `broken` is 0. */
export function arbitraryMessage(desc: DescMessage, options: MessageOptions): fc.Arbitrary<Message> {
  const { depth, broken, text = difficultText } = options;
  const or = (good: fc.Arbitrary<unknown>, bad: fc.Arbitrary<unknown>) =>
    broken === 0 ? good : fc.oneof({ weight: 100 - broken, arbitrary: good }, { weight: broken, arbitrary: bad });
  const deeper = { ...options, depth: depth - 1 };

  switch (desc.typeName) {
    case "google.protobuf.Timestamp":
      return fc
        .record({
          seconds: or(seconds, fc.constantFrom<unknown>(253_402_300_800n, -62_135_596_801n, "1", 1, 1.5)),
          nanos: or(nanos, fc.constantFrom<unknown>(-1, 1_000_000_000, 0.5, Number.NaN)),
        })
        .map((init) => create(desc, init as Record<string, unknown>));
    case "google.protobuf.Duration": {
      const sign = fc.constantFrom(1, -1);
      return fc
        .tuple(
          or(fc.bigInt({ min: 0n, max: 315_576_000_000n }), fc.constant(315_576_000_001n)),
          nanos,
          sign,
          or(sign, sign),
        )
        .map(([amount, part, one, other]) =>
          create(desc, {
            seconds: (amount as bigint) * BigInt(one),
            nanos: part * (broken === 0 ? one : (other as number)),
          }),
        );
    }
    case "google.protobuf.FieldMask": {
      const path = or(fc.constantFrom("a", "a_b", "a.b_c", "name"), fc.constantFrom("aB", "a__b", "a_1"));
      return fc.array(path, { maxLength: 3 }).map((paths) => create(desc, { paths }));
    }
    case "google.protobuf.Any":
      return or(
        seconds.map((at) => anyPack(TimestampSchema, create(TimestampSchema, { seconds: at }))),
        fc.constantFrom(create(AnySchema), create(AnySchema, { typeUrl: "type.googleapis.com/none.Such" })),
      ) as fc.Arbitrary<Any>;
    case "google.protobuf.Value":
      return or(
        fc.jsonValue({ maxDepth: 2 }).map((json) => fromJson(ValueSchema, json as JsonValue)),
        fc.constantFrom(
          create(ValueSchema),
          create(ValueSchema, { kind: { case: "numberValue", value: Number.POSITIVE_INFINITY } }),
        ),
      ) as fc.Arbitrary<Message>;
    default:
      break;
  }

  function element(field: DescField): fc.Arbitrary<unknown> {
    if (field.enum !== undefined) {
      const declared = fc.constantFrom(...field.enum.values.map(({ number }) => number));
      // JSON has one NullValue, whatever its number.
      const mayBeUnknown = field.enum.open && field.enum.typeName !== "google.protobuf.NullValue";
      return or(mayBeUnknown ? fc.oneof(declared, int32) : declared, misfit);
    }
    if (field.message === undefined) return or(scalar(field.scalar, text), misfit);
    if (field.message.typeName === "google.protobuf.Struct" && desc.typeName !== "google.protobuf.Value") {
      return or(fc.dictionary(text, fc.jsonValue({ maxDepth: 2 })), misfit);
    }
    if (isWrapperDesc(field.message) && field.fieldKind === "message" && field.oneof === undefined) {
      return or(scalar(field.message.fields[0].scalar, text), misfit);
    }
    return arbitraryMessage(field.message, deeper);
  }

  function mapKey(type: ScalarType): fc.Arbitrary<string> {
    return type === ScalarType.STRING ? text : scalar(type).map(String);
  }

  function value(field: DescField): fc.Arbitrary<unknown> {
    if (field.fieldKind === "list") return fc.array(element(field), { maxLength: 3 });
    if (field.fieldKind !== "map") return element(field);
    const entries = fc.array(fc.tuple(mapKey(field.mapKey), element(field)), { maxLength: 3 });
    return entries.map((pairs) => Object.fromEntries(pairs));
  }

  const isWanted = (field: DescField): boolean => depth > 0 || field.message === undefined;
  const inits = Object.fromEntries(
    desc.members.flatMap((member): [string, fc.Arbitrary<unknown>][] => {
      if (member.kind === "field") return isWanted(member) ? [[member.localName, value(member)]] : [];
      const cases = member.fields
        .filter(isWanted)
        .map((field) => value(field).map((held) => ({ case: field.localName, value: held })));
      return cases.length === 0 ? [] : [[member.localName, fc.oneof(...cases)]];
    }),
  );
  return fc.record(inits, { requiredKeys: [] }).map((init) => create(desc, init));
}
