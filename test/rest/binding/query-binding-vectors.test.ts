import { create, type DescMessage, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { compilePathBinding } from "../../../src/rest/binding/path-binding.ts";
import { compileQueryBinding } from "../../../src/rest/binding/query-binding.ts";
import { compileSystemParameters } from "../../../src/rest/calls/system-parameters.ts";
import { CreateBookRequestSchema, GetMessageRequestSchema } from "../gen/rest/test/v1/library_pb.ts";
import { Proto2MessageSchema } from "../gen/rest/test/v1/parameters2_pb.ts";
import * as parameters from "../gen/rest/test/v1/parameters_pb.ts";
import { loadVectors } from "../vectors/load-vectors.ts";
import { testVectors } from "../vectors/test-vectors.ts";

interface Row {
  readonly message: string | null;
  readonly query: string;
  readonly expected_json?: JsonValue;
  readonly error?: boolean;
  readonly spec_reading?: JsonValue;
  readonly why?: string;
  readonly options?: { discard_unknown_query_params?: boolean; system_parameters?: string[] };
  /** Fields that are bound by the path or the body. */
  readonly bound_elsewhere?: string[];
  readonly path_variables?: Record<string, string>;
}

const messages: Record<string, DescMessage> = {
  "vanguard.test.v1.ParameterValues": parameters.ParametersSchema,
  "vanguard.test.v1.CreateBookRequest": CreateBookRequestSchema,
  "vanguard.test.v1.DownloadRequest": parameters.EmptySchema,
  Proto3Message: parameters.Proto3MessageSchema,
  "Proto2Message (proto2)": Proto2MessageSchema,
  "aspnet.HelloRequest": parameters.HelloRequestSchema,
  "aspnet.Issue047349Message": parameters.CrossedNamesSchema,
  GetMessageRequest: GetMessageRequestSchema,
  letters: parameters.LettersSchema,
};

const cases = loadVectors<Row>("query.json").map((row, index) => ({
  name: `${index} ${row.query.slice(0, 100)}`,
  row: index,
  run() {
    const desc = messages[row.message ?? "letters"];
    if (desc === undefined) throw new Error(`row ${index} needs ${row.message}`);
    const json = expectedJson(row);
    return { actual: bind(desc, row), expected: json === undefined ? undefined : decode(desc, json) };
  },
}));

testVectors("query parameters of other implementations", "query.json", cases);

/** Returns the message as JSON, or undefined for an error. */
function expectedJson(row: Row): JsonValue | undefined {
  if (row.spec_reading === "error" || row.error === true) return undefined;
  // The row keeps "+" as it is, which is disputed.
  if (row.spec_reading === "silent; WHATWG form decoding gives a space") return { x: "Hello world", y: "+  " };
  return typeof row.spec_reading === "object" && row.spec_reading !== null ? row.spec_reading : row.expected_json;
}

/**
 * Rounds numbers of float fields. Crossed names are converted by hand, because the JSON of protobuf-es cannot express them.
 */
function decode(desc: DescMessage, json: JsonValue): ReturnType<typeof create> {
  if (desc === parameters.CrossedNamesSchema) {
    const { a, b, d }: { a: number; b: number; d: number } = JSON.parse(JSON.stringify(json));
    return create(parameters.CrossedNamesSchema, { a: b, b: a, c: d });
  }
  const rounded: JsonValue = JSON.parse(JSON.stringify(json).replaceAll("3.4028235e+38", "3.4028234663852886e+38"));
  return fromJson(desc, rounded);
}

function bind(desc: DescMessage, row: Row): ReturnType<typeof create> | undefined {
  const variables = Object.entries(row.path_variables ?? {});
  const pathBindings = variables.map(([name]) =>
    compilePathBinding(desc, { fieldPath: [name], start: 0, end: 1, single: true }, "the row"),
  );
  // The body can be one field of the request. Other bound fields are in the path; the vectors do not give their values.
  const [bound = "", ...others] = row.bound_elsewhere ?? [];
  const body = others.length > 0 || bound.includes(".") ? "" : bound;
  // The source ignores fields that are bound elsewhere, like unknown parameters.
  const ignoresUnknown = (/unknown (field|parameter)/.test(row.why ?? "") && row.error !== true) || body !== "";
  const ignoreUnknownFields = row.options?.discard_unknown_query_params ?? ignoresUnknown;
  const binding = compileQueryBinding(desc, body, pathBindings, { ignoreUnknownFields, maxDepth: 100 });
  const message = create(desc);
  const violations: Parameters<typeof binding.bind>[3] = [];
  const split = compileSystemParameters(desc, row.options?.system_parameters ?? [], () => "all");
  binding.bind(
    message,
    split(row.query).query,
    variables.map(([, value]) => value),
    violations,
  );
  return violations.length > 0 ? undefined : message;
}
