import { expect, test } from "vitest";
import { canonicalPrefix, containsAddress, containsPrefix } from "../../src/identity/address-prefix.ts";

test.each([
  ["192.0.2.7", "192.0.2.7/32"],
  ["192.0.2.0/24", "192.0.2.0/24"],
  ["0.0.0.0/0", "0.0.0.0/0"],
  ["::ffff:192.0.2.7", "192.0.2.7/32"],
  ["::FFFF:c000:0207/128", "192.0.2.7/32"],
  ["0:0:0:0:0:ffff:192.0.2.0/120", "192.0.2.0/24"],
  ["::ffff:0:0/96", "0.0.0.0/0"],
  ["2001:0DB8:0000::/33", "2001:db8::/33"],
  ["::", "::/128"],
  ["64:ff9b::1.2.3.4", "64:ff9b::102:304/128"],
])("%s is the prefix %s", (text, canonical) => {
  expect(canonicalPrefix(text)).toBe(canonical);
  expect(canonicalPrefix(canonical)).toBe(canonical);
});

test.each([
  "",
  "192.0.2.7/24",
  "2001:db8::1/32",
  "192.0.2",
  "010.0.0.1",
  "0x7f.0.0.1",
  "1.2.3.4/33",
  "1.2.3.4/032",
  "1.2.3.4/",
  "1.2.3.4/-1",
  "::/129",
  "fe80::1%eth0",
  "[::1]",
  " 1.2.3.4",
  "1.2.3.4\n",
  "1::2::3",
  "example.com",
])("%j is no prefix", (text) => {
  expect(canonicalPrefix(text)).toBeUndefined();
});

test.each([
  ["192.0.2.0/24", "192.0.2.255", true],
  ["192.0.2.0/24", "192.0.3.0", false],
  ["192.0.2.0/24", "::ffff:192.0.2.9", true],
  ["192.0.2.0/24", "::FFFF:C000:0209", true],
  ["192.0.2.0/24", "::192.0.2.9", false],
  ["0.0.0.0/0", "::1", false],
  ["::/0", "192.0.2.1", false],
  ["::/0", "::ffff:192.0.2.1", false],
  ["2001:db8::/32", "2001:DB8:ffff::1", true],
  ["2001:db8::/33", "2001:db8:8000::1", false],
  ["192.0.2.7/32", null, false],
  ["192.0.2.7/32", "unknown", false],
])("%s contains %s: %s", (prefix, address, contains) => {
  expect(containsAddress([prefix], address)).toBe(contains);
  expect(containsAddress(["203.0.113.0/24", prefix], address)).toBe(contains);
});

test.each([
  ["192.0.2.0/24", "192.0.2.0/24", true],
  ["192.0.2.0/24", "192.0.2.7/32", true],
  ["192.0.2.0/24", "192.0.2.0/23", false],
  ["192.0.2.0/24", "192.0.3.0/24", false],
  ["0.0.0.0/0", "::/0", false],
  ["::/0", "0.0.0.0/0", false],
  ["::/0", "2001:db8::/32", true],
  ["2001:db8::/32", "2001:db8:8000::/33", true],
  ["2001:db8::/33", "2001:db8::/32", false],
  ["192.0.2.0/24", "unknown", false],
])("%s contains %s: %s", (prefix, other, contains) => {
  expect(containsPrefix([prefix], other)).toBe(contains);
  expect(containsPrefix(["203.0.113.0/24", prefix], other)).toBe(contains);
});
