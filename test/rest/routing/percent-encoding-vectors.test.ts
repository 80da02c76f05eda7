import { decodePercent, decodePercentKeepingSlashes } from "../../../src/rest/routing/percent-encoding.ts";
import { loadVectors } from "../vectors/load-vectors.ts";
import { testVectors } from "../vectors/test-vectors.ts";

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

const cases = loadVectors<Row>("unescape.json").map(({ raw, mode, decoded, also = raw, spec_reading: reading }) => ({
  name: `${raw} (${mode})`,
  row: [raw, mode],
  run() {
    const decode = decoders[mode] ?? (() => "not built");
    const expected = reading ?? decoded ?? undefined;
    return { actual: [raw, also].map(decode), expected: [expected, expected] };
  },
}));

testVectors("decoding of other implementations", "unescape.json", cases);
