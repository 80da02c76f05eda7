import { fromJson, type JsonObject } from "@bufbuild/protobuf";
import { CreateBookRequestSchema } from "../gen/rest/test/v1/library_pb.ts";
import { ParametersSchema } from "../gen/rest/test/v1/parameters_pb.ts";
import { encodeRequest, UnencodableError } from "../support/encode-request.ts";
import { loadVectors } from "./load-vectors.ts";
import { testVectors } from "./test-vectors.ts";

interface Row {
  readonly fields: JsonObject;
  readonly template: string;
  readonly body: string;
  readonly path?: string;
  readonly query?: string;
  readonly error?: boolean;
}

const cases = loadVectors<Row>("encode.json").map((row, index) => ({
  name: `${index} ${row.template} with ${JSON.stringify(row.fields)}`,
  row: index,
  run: () => ({ actual: encode(row), expected: row.error ? "error" : { path: row.path, query: row.query } }),
}));

testVectors("requests encoded by other implementations", "encode.json", cases);

function encode({ fields, template, body }: Row): unknown {
  const desc = template.includes("{parent=") ? CreateBookRequestSchema : ParametersSchema;
  const rule = { httpMethod: "POST", path: template, body, responseBody: "", name: template };
  try {
    const { path, query } = encodeRequest(desc, fromJson(desc, fields), rule);
    // Upper-case and lower-case escapes are equivalent (RFC 3986, 6.2.2.1); a value keeps its own here.
    return { path: path.replaceAll(/%[\da-f]{2}/gi, (escape) => escape.toUpperCase()), query };
  } catch (error) {
    if (error instanceof UnencodableError) return "error";
    throw error;
  }
}
