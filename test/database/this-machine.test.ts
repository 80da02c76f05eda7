import { expect, test } from "vitest";
import { isThisMachine } from "../../src/database/this-machine.ts";

test.each<[string, boolean]>([
  ["localhost", true],
  ["LOCALHOST", true],
  ["db.localhost", true],
  ["127.0.0.1", true],
  ["127.1.2.3", true],
  ["::1", true],
  ["[::1]", true],
  // A name that begins as an address of this machine, and is that of another one.
  ["127.0.0.1.example.com", false],
  ["127.example.com", false],
  ["localhost.example.com", false],
  ["192.0.2.7", false],
  ["::2", false],
  ["", false],
])("%s is this machine: %s", (host, isLocal) => {
  expect(isThisMachine(host)).toBe(isLocal);
});
