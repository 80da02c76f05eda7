import { type DescField, type DescMessage, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";

type Json = fc.Arbitrary<JsonValue>;
type Entry = [key: string, value: JsonValue];

/** Values at the edges of the accepted formats. */
export const odd: Json = fc.oneof(
  fc.constantFrom<JsonValue>(null, true, false, "", "0", "-0", "01", "1", " 1", "1 ", "1.0", "1.5", "1e3", "0x10", "x"),
  fc.constantFrom<JsonValue>(0, -0, 1, -1, 1.5, 1e3, 1e21, 1e39, 2 ** 31, 2 ** 32, 2 ** 53, 2 ** 63, 2 ** 64),
  fc.constantFrom<JsonValue>(Number.NaN, Number.POSITIVE_INFINITY, "NaN", "Infinity", "-Infinity", "nan", "+1"),
  fc.constantFrom<JsonValue>(
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "-9223372036854775808",
  ),
  fc.constantFrom<JsonValue>(
    "YQ==",
    "YQ",
    "YQ=",
    "-_-_",
    "+/+/",
    "a",
    "YWJj YWJj",
    "\ud800",
    "a\u0000",
    [],
    {},
    [null],
    [[]],
  ),
  fc.constantFrom<JsonValue>(
    "1s",
    "-1.5s",
    "1.s",
    ".5s",
    "-0.1s",
    "1.0000000001s",
    "315576000001s",
    "1",
    "a,bC",
    "a_b",
    "a,,b",
  ),
  fc.jsonValue({ maxDepth: 2 }) as Json,
);

const pad = (number: number, width: number): string => String(number).padStart(width, "0");

/** Timestamps, some of which do not exist. */
export const time: fc.Arbitrary<string> = fc
  .record({
    year: fc.oneof(
      fc.integer({ min: 1900, max: 2100 }),
      fc.integer({ min: 0, max: 10_001 }),
      fc.constantFrom(0, 1, 99, 100),
    ),
    month: fc.integer({ min: 0, max: 13 }),
    day: fc.oneof(fc.integer({ min: 1, max: 28 }), fc.integer({ min: 0, max: 32 })),
    hour: fc.integer({ min: 0, max: 24 }),
    minute: fc.integer({ min: 0, max: 60 }),
    second: fc.integer({ min: 0, max: 60 }),
    fraction: fc.oneof(
      fc.constantFrom("", "", ".", ".0", ".5", ".123456789", ".1234567890", ".1a", ",5", "..1"),
      fc.nat({ max: 999_999_999 }).map((nanos) => `.${pad(nanos, 9)}`),
    ),
    zone: fc.constantFrom("Z", "Z", "Z", "Z", "", "z", "+00:00", "-23:59", "+24:00", "+1:00", " Z", "ZZ"),
    separator: fc.constantFrom("T", "T", "T", "T", "T", "t", " "),
  })
  .map(
    ({ year, month, day, hour, minute, second, fraction, zone, separator }) =>
      `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}${separator}${pad(hour, 2)}:${pad(minute, 2)}:${pad(second, 2)}${fraction}${zone}`,
  );

const goodTime = fc
  .date({ min: new Date("0001-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59Z"), noInvalidDate: true })
  .map((date) => date.toISOString());

interface JsonOptions {
  /** The maximum nesting of messages. */
  readonly depth: number;
  /** The percentage of values from `odd`. */
  readonly broken: number;
}

/** JSON for a message, with invalid values, unknown fields and duplicate keys in it. */
export function arbitraryJson(desc: DescMessage, options: JsonOptions): Json {
  const { depth, broken } = options;
  const or = (good: Json): Json =>
    broken === 0 ? good : fc.oneof({ weight: 100 - broken, arbitrary: good }, { weight: broken, arbitrary: odd });
  if (isWrapperDesc(desc)) return or(scalar(desc.fields[0].scalar));
  switch (desc.typeName) {
    case "google.protobuf.Timestamp":
      return or(goodTime);
    case "google.protobuf.Duration":
      return or(fc.constantFrom("1s", "-1.5s", "0.000000001s", "315576000000s"));
    case "google.protobuf.FieldMask":
      return or(fc.constantFrom("", "a", "a,bC.d", "aB"));
    case "google.protobuf.Struct":
      return or(
        fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }), {
          noNullPrototype: true,
        }) as Json,
      );
    case "google.protobuf.Value":
      return or(fc.jsonValue({ maxDepth: 2 }) as Json);
    case "google.protobuf.ListValue":
      return or(fc.array(fc.jsonValue({ maxDepth: 1 })) as Json);
    case "google.protobuf.Any":
      return or(fc.constant<JsonValue>({}));
    default:
      break;
  }

  function value(field: DescField): Json {
    const one = or(element(field));
    if (field.fieldKind === "list") return fc.array(one, { maxLength: 3 });
    if (field.fieldKind !== "map") return one;
    const keys = fc.oneof(
      mapKey(field.mapKey),
      ...(broken === 0 ? [] : [fc.constantFrom("", "01", "-1", "x", "\ud800")]),
    );
    return fc.array(fc.tuple(keys, one), { maxLength: 3 }).map((entries) => Object.fromEntries(entries));
  }

  function element(field: DescField): Json {
    if (field.message !== undefined) return arbitraryJson(field.message, { depth: depth - 1, broken });
    if (field.enum === undefined) return scalar(field.scalar);
    return fc.constantFrom(...field.enum.values.flatMap(({ name, number }): JsonValue[] => [name, number]));
  }

  const wanted = desc.fields.filter((field) => depth > 0 || field.message === undefined);
  const member = (field: DescField): fc.Arbitrary<Entry[]> => {
    const names = [[field.name], [field.jsonName]];
    if (broken > 0 && field.name !== field.jsonName) names.push([field.name, field.jsonName]);
    return fc
      .tuple(fc.constantFrom(...names), or(value(field)))
      .map(([keys, held]) => keys.map((key): Entry => [key, held]));
  };
  const unknown = fc
    .tuple(fc.constantFrom("nope", "__proto__", "constructor", "[a.b]", "toString"), odd)
    .map((entry): Entry[] => [entry]);
  return or(
    fc
      .shuffledSubarray(wanted, { maxLength: Math.min(8, wanted.length) })
      .chain((fields) => fc.tuple(...fields.map(member), ...(broken === 0 ? [] : [maybe(unknown, broken)])))
      .map((entries) => Object.fromEntries(entries.flat())),
  );
}

function maybe(entries: fc.Arbitrary<Entry[]>, percent: number): fc.Arbitrary<Entry[]> {
  return fc.oneof(
    { weight: 100 - percent, arbitrary: fc.constant<Entry[]>([]) },
    { weight: percent, arbitrary: entries },
  );
}

function scalar(type: ScalarType): Json {
  switch (type) {
    case ScalarType.STRING:
      return fc.string();
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.BYTES:
      return fc.base64String();
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return fc.oneof(
        fc.float({ noNaN: true, noDefaultInfinity: true }),
        fc.constantFrom("NaN", "-Infinity", "1.5", "1e3"),
      );
    default:
      return fc.oneof(fc.nat({ max: 1000 }), fc.nat({ max: 1000 }).map(String));
  }
}

function mapKey(type: ScalarType): fc.Arbitrary<string> {
  if (type === ScalarType.STRING) return fc.oneof(fc.string(), fc.constant("__proto__"));
  return type === ScalarType.BOOL ? fc.constantFrom("true", "false") : fc.nat({ max: 1000 }).map(String);
}
