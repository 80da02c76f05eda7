import { describe, expect, test } from "vitest";
import { decodePercent, decodePercentKeepingSlashes } from "../../../src/rest/routing/percent-encoding.ts";
import { expectedOf, haveVectors, loadVectors } from "../vectors/load-vectors.ts";

interface Row {
  readonly raw: string;
  readonly mode: string;
  readonly decoded: string | null;
  readonly also?: string;
  readonly spec_reading?: string;
}

const decoders: Record<string, typeof decodePercent> = {
  single: decodePercent,
  "multi:all": decodePercent,
  multi: decodePercentKeepingSlashes,
  "multi:all-except-slash": decodePercentKeepingSlashes,
};

describe.skipIf(!haveVectors)("decoding of other implementations", () => {
  const rows = loadVectors<Row>("unescape.json");
  test.each(rows.map((row) => [row.raw, row.mode, row] as const))("%s (%s)", (raw, mode, row) => {
    const decode = decoders[mode] ?? (() => "not built");
    const expected = expectedOf("unescape.json", [raw, mode], row.spec_reading ?? row.decoded ?? undefined);
    expect([raw, row.also ?? raw].map(decode)).toEqual([expected, expected]);
  });
});
