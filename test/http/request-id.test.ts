import { expect, it } from "vitest";
import { requestIdOf } from "../../src/http/request-id.ts";
import { requestPathOf } from "../../src/http/request-path.ts";

it.each(["a", "01980f5e-7c1a", "A.b_c-9", "x".repeat(128)])("accepts the client's request id %s", (id) => {
  expect(requestIdOf({ "x-request-id": id })).toBe(id);
});

it.each([undefined, "", "x".repeat(129), "a b", "a\nb", "é", "a,b", '"a"'])("generates an id instead of %j", (id) => {
  const made = requestIdOf(id === undefined ? {} : { "x-request-id": id });
  expect(made).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(requestIdOf({})).not.toBe(made);
});

it.each([
  ["/iam/v1alpha/orgs?token=secret", "/iam/v1alpha/orgs"],
  ["/", "/"],
  ["http://user:secret@host/orgs?token=secret", "/orgs"],
  ["http://user:secret@host", "/"],
  ["http://host?secret", "/"],
  ["*", "*"],
  ["/a://b/c", "/a://b/c"],
])("reads the path of the request target %s", (target, path) => {
  expect(requestPathOf(target)).toBe(path);
});
