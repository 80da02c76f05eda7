// The exchange of JSON with Go's protojson. It needs Go, which not every machine has.
import { defineConfig } from "vitest/config";
import { rounds, soakTimeoutMs } from "../test/support/rounds.ts";

export default defineConfig({
  test: {
    include: ["test/protojson/*.protojson.ts"],
    testTimeout: rounds(60_000, soakTimeoutMs),
  },
});
