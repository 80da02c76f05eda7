import type { JsonValue } from "@bufbuild/protobuf";
import { createJsonReaders } from "../../../src/rest/json/read-json.ts";
import { inferUpdateMask } from "../../../src/rest/binding/infer-update-mask.ts";
import { locateJsonErrors } from "../../../src/rest/binding/locate-json-errors.ts";
import { MaskedSchema } from "../gen/rest/test/v1/library_pb.ts";
import { loadVectors } from "../vectors/load-vectors.ts";
import { testVectors } from "../vectors/test-vectors.ts";

interface Row {
  readonly name: string;
  readonly body: JsonValue;
  readonly paths?: string[];
  readonly error?: string;
}

const cases = loadVectors<Row>("fieldmask.json").map((row) => ({
  name: row.name,
  row: row.name,
  run() {
    // An invalid body is rejected before the mask is inferred.
    const fits =
      row.error === undefined ||
      locateJsonErrors(MaskedSchema, row.body, createJsonReaders({ ignoreUnknownFields: false })).length === 0;
    const actual = fits ? inferUpdateMask(MaskedSchema, row.body).toSorted() : undefined;
    return { actual, expected: row.paths };
  },
}));

testVectors("update masks inferred by other implementations", "fieldmask.json", cases);
