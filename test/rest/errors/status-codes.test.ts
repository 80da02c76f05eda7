import type { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { statusOf } from "../../../src/rest/errors/status-codes.ts";
import { haveVectors, loadVectors } from "../vectors/load-vectors.ts";

interface Row {
  readonly code: Code;
  readonly name: string;
  readonly http: number;
}

// OK is not an error; the status of a success depends on the method.
const rows = loadVectors<Row>("status.json").filter((row) => row.name !== "OK");

describe.skipIf(!haveVectors)("status codes of google.rpc.Code", () => {
  test.each(rows.map((row) => [row.name, row] as const))("%s", (name, { code, http }) => {
    expect(statusOf(code)).toEqual({ name, http });
  });
});
