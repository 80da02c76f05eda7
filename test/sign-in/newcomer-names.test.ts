// What a newcomer is called, by claims that may be anything.
import { expect, test } from "vitest";
import { isName } from "../../src/paths/parse-path.ts";
import { baseName, displayNameIn, namesLike, vouchedEmail } from "../../src/iam/sign-in/newcomer-names.ts";

test.each([
  [{ preferred_username: "Jürgen Ärger" }, "jurgen-arger"],
  [{ preferred_username: "alice@acme.example", name: "Alice" }, "alice"],
  [{ preferred_username: "ж", email: "zhanna@acme.example" }, "zhanna"],
  [{ name: "Bob O'Neil" }, "bob-o-neil"],
  [{ preferred_username: "../../orgs/system" }, "orgs-system"],
  [{ preferred_username: "01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4b" }, "user-01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4b"],
  [{ preferred_username: "x".repeat(100_000) }, "x".repeat(50)],
  [{ preferred_username: "-".repeat(100_000) }, "user"],
  [{ preferred_username: ["x"], email: { a: 1 }, name: 7 }, "user"],
  [JSON.parse('{"__proto__": {"name": "admin"}}') as object, "user"],
])("case %#: %o has the name %s", (claims, name) => {
  expect(baseName({ ...claims })).toBe(name);
  for (const each of namesLike(name, "0123456789")) expect(isName(each), each).toBe(true);
});

test("the display name is the claim, if it can be one", () => {
  expect(displayNameIn({ name: " Zoë Ж. " }, "zoe")).toBe("Zoë Ж.");
  for (const name of ["", "x".repeat(65), "a\u0000b", "a\nb", 7, undefined])
    expect(displayNameIn({ name }, "zoe")).toBe("zoe");
});

test("an address counts if it is one and the provider vouches for it", () => {
  const email = "zoe@example.com";
  expect(vouchedEmail({ email, isVerified: true }, false)).toBe(email);
  expect(vouchedEmail({ email, isVerified: undefined }, true)).toBe(email);
  for (const isVerified of [undefined, false]) expect(vouchedEmail({ email, isVerified }, false)).toBeNull();
  expect(vouchedEmail({ email: "zoe", isVerified: true }, true)).toBeNull();
});
