import { create, type DescMessage, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { compilePathBinding } from "../../../src/rest/binding/path-binding.ts";
import { compileQueryBinding } from "../../../src/rest/binding/query-binding.ts";
import { CreateBookRequestSchema, GetMessageRequestSchema } from "../gen/rest/test/v1/library_pb.ts";
import { Proto2MessageSchema } from "../gen/rest/test/v1/parameters2_pb.ts";
import * as parameters from "../gen/rest/test/v1/parameters_pb.ts";
import { expectedOf, haveVectors, loadVectors } from "../vectors/load-vectors.ts";

interface Row {
  readonly message: string | null;
  readonly query: string;
  readonly expected_json?: JsonValue;
  readonly error?: boolean;
  readonly spec_reading?: JsonValue;
  readonly why?: string;
  readonly options?: { discard_unknown_query_params?: boolean };
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

describe.skipIf(!haveVectors)("query parameters of other implementations", () => {
  test.each(loadVectors<Row>("query.json").map((row, index) => [index, row.query.slice(0, 100), row] as const))(
    "%i %s",
    (index, _query, row) => {
      const desc = messages[row.message ?? "letters"];
      if (desc === undefined) throw new Error(`row ${index} needs ${row.message}`);
      const json = expectedJson(row);
      const expected = json === undefined ? undefined : decode(desc, json);
      expect(bind(desc, row)).toEqual(expectedOf("query.json", index, expected));
    },
  );
});

/** The message as JSON; undefined for an error. */
function expectedJson(row: Row): JsonValue | undefined {
  if (row.spec_reading === "error" || row.error === true) return undefined;
  return typeof row.spec_reading === "object" && row.spec_reading !== null ? row.spec_reading : row.expected_json;
}

/** Numbers of float fields are compared as floats, and crossed names are too much for the JSON of protobuf-es. */
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
  const passesOver = row.why?.startsWith("unknown field") === true && row.error !== true;
  const ignoreUnknownFields = row.options?.discard_unknown_query_params ?? passesOver;
  const binding = compileQueryBinding(desc, "", pathBindings, { ignoreUnknownFields, maxDepth: 100 });
  const message = create(desc);
  const violations: Parameters<typeof binding.bind>[3] = [];
  binding.bind(
    message,
    row.query,
    variables.map(([, value]) => value),
    violations,
  );
  return violations.length > 0 ? undefined : message;
}
