// In a file of its own: what V8 compiles depends on what was parsed before.
import { expect, test } from "vitest";
import { decodeUtf8, parseJson } from "../../../src/rest/json/parse-json.ts";
import { ratioOf } from "../../support/cpu-time.ts";

test("a large body takes no longer after many small ones", () => {
  const small = Buffer.from(JSON.stringify({ name: "m-1234", labels: { a: "b" }, n: 1e3 }));
  for (let count = 0; count < 20_000; count++) parseJson(decodeUtf8(small), 32);
  const large = Buffer.from(JSON.stringify({ values: Array(250_000).fill(0) }));
  expect(parseJson(decodeUtf8(large), 32)).toHaveProperty("values");
  const ratio = ratioOf(
    () => parseJson(decodeUtf8(large), 32),
    () => JSON.parse(large.toString()) as unknown,
  );
  expect(ratio).toBeLessThan(50);
});
