import type { JsonValue } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { inferUpdateMask } from "../../../src/rest/binding/infer-update-mask.ts";
import { locateJsonErrors } from "../../../src/rest/json/locate-json-errors.ts";
import { MaskedSchema } from "../gen/rest/test/v1/library_pb.ts";
import { expectedOf, haveVectors, loadVectors } from "../vectors/load-vectors.ts";

interface Row {
  readonly name: string;
  readonly body: JsonValue;
  readonly paths?: string[];
  readonly error?: string;
}

const rows = loadVectors<Row>("fieldmask.json");

describe.skipIf(!haveVectors)("masks that other implementations infer", () => {
  test.each(rows.map((row) => [row.name, row] as const))("%s", (name, row) => {
    // A body that does not fit is refused before a mask is inferred.
    const fits = row.error === undefined || locateJsonErrors(MaskedSchema, row.body, false).length === 0;
    const paths = fits ? inferUpdateMask(MaskedSchema, row.body).toSorted() : undefined;
    expect(paths).toEqual(expectedOf("fieldmask.json", name, row.paths));
  });
});
