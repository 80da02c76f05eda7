// What the JSON of requests and responses does not change silently: numbers, bytes, text, field masks and types.
import {
  create,
  createRegistry,
  type DescEnum,
  type DescMessage,
  fromBinary,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import { AnySchema, EmptySchema, FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { compileMessageDecoder } from "../../../src/rest/binding/decode-message.ts";
import { RestError } from "../../../src/rest/errors/rest-error.ts";
import { parseJson } from "../../../src/rest/json/parse-json.ts";
import { openAny } from "../../../src/rest/json/read-well-known.ts";
import { compileEnumWriter } from "../../../src/rest/json/write-scalar.ts";
import { createJsonWriters } from "../../../src/rest/json/write-json.ts";
import * as library from "../gen/rest/test/v1/library_pb.ts";
import { OddFieldsSchema } from "../gen/rest/test/v1/odd_fields_pb.ts";
import { ParametersSchema } from "../gen/rest/test/v1/parameters_pb.ts";
import { listenHttp1 } from "../support/listen.ts";

const read = (desc: DescMessage, text: string): Message => compileMessageDecoder(desc, false)(parseJson(text, 100));
const write = (desc: DescMessage, message: Message): string =>
  JSON.stringify(createJsonWriters({ alwaysEmitImplicit: false }).message(desc)(message));

/** Returns the violations for which the JSON is refused, as `field: description`. */
function violationsOf(desc: DescMessage, text: string): string[] {
  try {
    read(desc, text);
  } catch (error) {
    if (error instanceof RestError) return error.violations.map(({ field, description }) => `${field}: ${description}`);
    throw error;
  }
  return [];
}

test.each<[text: string, int64: bigint]>([
  ["9007199254740993", 9007199254740993n],
  ["-9007199254740993", -9007199254740993n],
  ["9223372036854775807", 2n ** 63n - 1n],
  ["-9223372036854775808", -(2n ** 63n)],
  ["9007199254740993.000", 9007199254740993n],
  ["9.007199254740993e15", 9007199254740993n],
  ["90071992547409930E-1", 9007199254740993n],
  ["1e2", 100n],
  ["1.0", 1n],
  ["-0", 0n],
  ["0e400", 0n],
])("reads the 64-bit integer %s from its text, as a number and as a string", (text, int64) => {
  const json = `{"int64Value":${text},"int64ValueWrapper":"${text}"}`;
  expect(read(ParametersSchema, json)).toMatchObject({
    int64Value: int64,
    int64ValueWrapper: int64,
  });
  expect(read(OddFieldsSchema, `{"longText":${text},"sints":["${text}"]}`)).toMatchObject({
    longText: String(int64),
    sints: [int64],
  });
});

const wholeFields = ["int32_value", "int64_value", "uint32_value", "uint64_value", "int64_value_wrapper"];
const numberFields = [...wholeFields, "double_value", "float_value", "double_value_wrapper"];

test.each(["0x1", "+1", "01", "-01", " 1", "1 ", ".5", "5.", "1e", "", "-", "1_0", "1e400", "infinity"])(
  "takes the string %j for no number",
  (text) => {
    const json = JSON.stringify(Object.fromEntries(numberFields.map((field) => [field, text])));
    const got = `got ${JSON.stringify(text)}`;
    expect(violationsOf(ParametersSchema, json)).toEqual(
      numberFields.map(
        (field) => expect.stringMatching(`^${field}: must be a .*number.*, ${got.replace("+", "\\+")}$`) as string,
      ),
    );
  },
);

test.each(["1.5", "1.00000000000000000001", "9007199254740992.5", "1e-1", "18446744073709551616", "1e400"])(
  "takes the number %s for no integer",
  (text) => {
    const json = `{${wholeFields.map((field) => `"${field}":${text}`).join()}}`;
    expect(violationsOf(ParametersSchema, json)).toEqual(
      wholeFields.map((field) => expect.stringMatching(`^${field}: must be a whole number from .*, got `) as string),
    );
  },
);

test("names the integer that is out of range with all of its digits", () => {
  expect(violationsOf(ParametersSchema, '{"int64_value":9223372036854775808,"string_value":9007199254740993}')).toEqual(
    [
      "int64_value: must be a whole number from -9223372036854775808 to 9223372036854775807, got 9223372036854775808",
      "string_value: must be a string, got 9007199254740993",
    ],
  );
});

test("takes a number for no message, map or list", () => {
  const fields = ["recursive", "string_map", "enum_list", "struct_value", "timestamp", "enum_value"];
  const json = `{${fields.map((field) => `"${field}":12345678901234567890`).join()}}`;
  expect(violationsOf(ParametersSchema, json).map((violation) => violation.split(":")[0])).toEqual(fields);
});

test("reads a double that has more digits than it holds", () => {
  const json = '{"double_value":0.99999999999999999999,"float_value":3.4028235e38,"double_value_wrapper":1e300}';
  expect(read(ParametersSchema, json)).toMatchObject({
    doubleValue: 1,
    floatValue: Math.fround(3.4028235e38),
    doubleValueWrapper: 1e300,
  });
  const message = read(ParametersSchema, json);
  expect(fromBinary(ParametersSchema, toBinary(ParametersSchema, message as never))).toEqual(message);
});

test.each([
  ["", ""],
  ["_-8", "ffef"],
  ["/+8=", "ffef"],
  ["-_8=", "fbff"],
  ["YQ", "61"],
  ["YQ==", "61"],
])("reads the base64 %j", (text, hex) => {
  const message = read(ParametersSchema, JSON.stringify({ bytesValue: text, bytesValueWrapper: text }));
  const bytes = new Uint8Array(Buffer.from(hex, "hex"));
  expect(message).toMatchObject({ bytesValue: bytes, bytesValueWrapper: bytes });
});

test.each(["YQ=", "YQ===", "YWI==", "YWJj=", "Y", "=", "YQ==YQ==", "Y W I", "YWI\n", "-+8=", "_/8", "YW\u00e9"])(
  "refuses %j as base64",
  (text) => {
    expect(violationsOf(ParametersSchema, JSON.stringify({ bytes_value: text, bytes_value_wrapper: text }))).toEqual(
      ["bytes_value", "bytes_value_wrapper"].map(
        (field) =>
          `${field}: must be bytes in base64, with all of its padding or without it, got ${JSON.stringify(text)}`,
      ),
    );
  },
);

const beyond = "must have numbers from -1.7976931348623157e308 to 1.7976931348623157e308";

test.each([
  ['{"struct_value":{"a":[1e400]}}', `struct_value: ${beyond}, got 1e400`],
  ['{"structs":[{},{"a":-1e999}]}', `structs[1]: ${beyond}, got -1e999`],
  ['{"value_map":{"k":1e400}}', `value_map["k"]: ${beyond}, got 1e400`],
  ['{"chosen_value":{"a":"\\ud800"}}', 'chosen_value: must have strings of valid Unicode, got "\\ud800"'],
  ['{"lists":[["\\udc00"]]}', 'lists[0]: must have strings of valid Unicode, got "\\udc00"'],
  ['{"struct_map":{"s":{"\\ud800":1}}}', 'struct_map["s"]: must have strings of valid Unicode, got "\\ud800"'],
  ['{"struct_map":{"\\ud800":{}}}', 'struct_map["\\ud800"]: must have a key that is valid Unicode'],
  ['{"optional_text":"a\\ud800"}', 'optional_text: must be a string of valid Unicode, got "a\\ud800"'],
  ['{"string_values":{"1":"\\ud800"}}', 'string_values["1"]: must be a string of valid Unicode, got "\\ud800"'],
  [
    '{"string_values":{"01":"a"}}',
    expect.stringMatching(/^string_values\["01"\]: must have a key that is a whole number/),
  ],
  ['{"string_values":{"0":"a","-0":"b"}}', "string_values: has two keys with the same value"],
  [
    '{"masks":["a,displayName","a_b"]}',
    'masks[1]: must be comma-separated field paths with the names of JSON, such as name,displayName, and other keys of maps in backticks, got "a_b"',
  ],
  ['{"masks":["\\ud800"]}', expect.stringMatching(/^masks\[0\]: must be comma-separated field paths/)],
  ...["a,,b", "a..b", "a b", "a\\u0000", "items[0]", ".a", "a.", "a.*", "`a`"].map((mask): [string, string] => [
    `{"masks":["${mask}"]}`,
    expect.stringMatching(/^masks\[0\]: must be comma-separated field paths/) as string,
  ]),
  ['{"chosen_null":null,"chosen_text":"1"}', "chosen_text: cannot be set together with chosen_null"],
  ['{"chosen_bytes":"","chosen_null":null}', "chosen_null: cannot be set together with chosen_bytes"],
  ['{"chosen_value":null,"chosen_null":null}', "chosen_null: cannot be set together with chosen_value"],
  ['{"chosen_null":null,"chosenNull":null}', "chosen_null: is given twice, as chosen_null and chosenNull"],
])("refuses %s", (json, violation) => {
  expect(violationsOf(OddFieldsSchema, json)).toEqual([violation]);
});

test("takes null for a member of a oneof that is unset, and for a value where it is one", () => {
  const json = '{"chosen_struct":null,"chosen_null":null,"chosen_text":null}';
  expect(read(OddFieldsSchema, json)).toMatchObject({ choice: { case: "chosenNull" } });
});

/** Half a step above the largest float, with all digits. Its shortest text is below it, and has the same double. */
const halfStep = "340282356779733661637539395458142568448";

test.each(["3.4028235677973366e38", "3.4028235677973366e+38", `${halfStep.slice(0, -1)}7.9`, "0.34028235677973366e39"])(
  "reads %s as the largest float, to which it rounds",
  (text) => {
    const largest = (2 - 2 ** -23) * 2 ** 127;
    for (const value of [text, `"${text}"`]) {
      const message = read(ParametersSchema, `{"float_value":${value},"float_value_wrapper":${value}}`);
      expect(message).toMatchObject({ floatValue: largest, floatValueWrapper: largest });
    }
    expect(read(ParametersSchema, `{"float_value":-${text}}`)).toMatchObject({ floatValue: -largest });
  },
);

test.each([halfStep, `${halfStep}.0`, "3.40282356779733661637539395458142568449e38", "-3.4028235677973367e38"])(
  "refuses %s as a float, because it rounds to infinity",
  (text) => {
    expect(violationsOf(ParametersSchema, `{"float_value":${text}}`)).toEqual([
      expect.stringMatching(/^float_value: must be a number, /),
    ]);
  },
);

test("rounds numbers in a Struct, which has doubles alone", () => {
  const json = '{"structValue":{"__proto__":[9007199254740993,"9007199254740993"]},"values":[9007199254740993,1e23]}';
  const message = read(OddFieldsSchema, json);
  expect(write(OddFieldsSchema, message)).toBe(
    '{"struct_value":{"__proto__":[9007199254740992,"9007199254740993"]},"values":[9007199254740992,1e+23]}',
  );
  expect(fromBinary(OddFieldsSchema, toBinary(OddFieldsSchema, message as never))).toEqual(message);
});

test.each([
  [0.1, "0.1"],
  [-16777217, "-16777216"],
  [3.4028234663852886e38, "3.4028235e+38"],
  [2 ** -149, "1e-45"],
  [2 ** -126, "1.1754944e-38"],
  [1 / 3, "0.33333334"],
  [123456.79, "123456.79"],
  [-0, "-0"],
  [Number.NEGATIVE_INFINITY, '"-Infinity"'],
])("writes the float %s as %s", (value, text) => {
  const message = create(ParametersSchema, { floatValue: Math.fround(value), floatValueWrapper: value });
  expect(write(ParametersSchema, message)).toBe(`{"float_value":${text},"float_value_wrapper":${text}}`);
});

test("keeps -0 as doubles", () => {
  const json = '{"chosen_value":-0,"structs":[{"a":-0}],"doubles":[-0,0]}';
  expect(write(OddFieldsSchema, read(OddFieldsSchema, json))).toBe(
    '{"structs":[{"a":-0}],"chosen_value":-0,"doubles":[-0,0]}',
  );
});

/** Serves a method that answers what it is called with, and keeps the errors that the service would log. */
async function listenEcho(desc: DescMessage, answer: (request: Message) => Message = (request) => request) {
  const { importWhole } = library.StreamingService.method;
  const method = { ...importWhole, methodKind: "unary", input: desc, output: desc } as const;
  const logged: unknown[] = [];
  const { call } = await listenHttp1({
    routes: (router) => void router.rpc(method, answer),
    mapError: (error) => {
      logged.push(error.cause);
      return error;
    },
  });
  return { logged, post: (body: string) => call({ method: "POST", path: "/v1/books:import", body }) };
}

test("knows the types of the service and of what it imports in an Any", async () => {
  const { post } = await listenEcho(library.MaskedSchema);
  const message = {
    anytype: { "@type": "type.googleapis.com/google.protobuf.Timestamp", value: "2026-01-31T12:00:00Z" },
    repeated_anytype: [
      { "@type": "type.googleapis.com/rest.test.v1.Book", title: "a", create_time: "2026-01-31T12:00:00Z" },
      { "@type": "type.googleapis.com/rest.test.v1.Masked", float_value: 0.1, anytype: {} },
    ],
  };
  const { status, text } = await post(JSON.stringify(message));
  expect([status, JSON.parse(text)]).toEqual([200, message]);
});

test("keeps the URL of the type of an Any", async () => {
  const { post } = await listenEcho(library.MaskedSchema);
  const message = { anytype: { "@type": "example.com/types/rest.test.v1.Book", title: "a" } };
  expect(JSON.parse((await post(JSON.stringify(message))).text)).toEqual(message);
});

test.each([
  [{ "@type": "type.googleapis.com/none.Such" }, "anytype", 'got the unknown type "type.googleapis.com/none.Such"'],
  [{ "@type": "rest.test.v1.Book" }, "anytype", 'got the unknown type "rest.test.v1.Book"'],
  [{ name: "a" }, "anytype", "got no such text"],
  [{ "@type": 7 }, "anytype", "got no such text"],
  [{ "@type": "a/google.protobuf.Timestamp" }, "anytype", 'must have "@type" and "value" alone'],
  [{ "@type": "a/google.protobuf.Timestamp", value: "x" }, "anytype", 'must be an object with an "@type"'],
  [{ "@type": "a/rest.test.v1.Book", nope: 1 }, "anytype.nope", "is not a field of rest.test.v1.Book"],
  [{ "@type": "a/rest.test.v1.Book", create_time: "2027-02-30T00:00:00Z" }, "anytype.create_time", "must be a time"],
  [7, "anytype", 'must be an object with an "@type" and the fields of that message, got 7'],
])("refuses the Any %j", async (any, field, description) => {
  const { post } = await listenEcho(library.MaskedSchema);
  const { status, error } = await post(JSON.stringify({ anytype: any }));
  expect([status, error.status]).toEqual([400, "INVALID_ARGUMENT"]);
  expect(error.details).toContainEqual(
    expect.objectContaining({
      field_violations: [
        expect.objectContaining({ field, description: expect.stringContaining(description) as string }),
      ],
    }),
  );
});

test.each([
  [["display_name", "a.b_c", "*"], "displayName,a.bC,*"],
  [["labels.cost-centre", "labels.a/b_c"], "labels.cost-centre,labels.a/b_c"],
  [["labels.`a,b`", "labels.`a``b_C`.d_e"], "labels.`a,b`,labels.`a``b_C`.dE"],
])("writes the field mask %j as it is read back", (paths, text) => {
  const message = create(OddFieldsSchema, { masks: [create(FieldMaskSchema, { paths })] });
  const json = write(OddFieldsSchema, message);
  expect(JSON.parse(json)).toEqual({ masks: [text] });
  expect(read(OddFieldsSchema, json)).toEqual(message);
});

test.each<[what: string, desc: DescMessage, answer: Message, log: string]>([
  ...["a__b", "aB", "a_1", "a,b", "a b", "a..b", "", "items[0]", "labels.`a"].map(
    (path): [string, DescMessage, Message, string] => [
      `the path ${JSON.stringify(path)}, which JSON cannot have`,
      OddFieldsSchema,
      create(OddFieldsSchema, { masks: [create(FieldMaskSchema, { paths: [path] })] }),
      `the path ${JSON.stringify(path)} of a google.protobuf.FieldMask has no form in JSON`,
    ],
  ),
  [
    "an Any of an unknown type",
    library.MaskedSchema,
    create(library.MaskedSchema, { anytype: create(AnySchema, { typeUrl: "a/none.Such" }) }),
    '"a/none.Such" is not in the type registry',
  ],
  [
    "an Any with a value of no type",
    library.MaskedSchema,
    create(library.MaskedSchema, { anytype: create(AnySchema, { value: Uint8Array.of(8, 1) }) }),
    "it has a value and no type",
  ],
])("answers INTERNAL and logs why for %s", async (_what, desc, answer, log) => {
  const { post, logged } = await listenEcho(desc, () => answer);
  const { status, error } = await post("{}");
  expect([status, error.status, error.message]).toEqual([500, "INTERNAL", "internal error"]);
  expect(logged).toEqual([expect.objectContaining({ message: expect.stringContaining(log) as string })]);
});

test("reads an Empty in an Any without and with a value", () => {
  const registry = createRegistry(EmptySchema);
  for (const json of [{}, { value: {} }]) {
    const { desc, content } = openAny({ "@type": "a/google.protobuf.Empty", ...json }, registry);
    expect([desc.typeName, content]).toEqual(["google.protobuf.Empty", {}]);
  }
});

test("writes the first of several names of an enum value", () => {
  const values = ["ONE", "EINS"].map((jsonName) => ({ number: 1, jsonName }));
  const writeEnum = compileEnumWriter({ typeName: "test.Count", values } as unknown as DescEnum);
  expect([writeEnum(1), writeEnum(2)]).toEqual(["ONE", 2]);
});
