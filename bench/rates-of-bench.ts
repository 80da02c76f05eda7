/** Settings that count calls as they are counted by default, and refuse none. */
export const ratesOfBench: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["READS_PER_CALLER", "WRITES_PER_CALLER", "READS_PER_ORG", "WRITES_PER_ORG"].map((name) => [
      `TENANTRY_RATE_${name}`,
      "10000000",
    ]),
  ),
  TENANTRY_ANONYMOUS_PER_ADDRESS: "1000000",
};
