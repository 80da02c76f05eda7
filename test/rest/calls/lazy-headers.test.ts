import { expect, test } from "vitest";
import { createLazyHeaders } from "../../../src/rest/calls/lazy-headers.ts";

const none = new Set<string>();
const source = { ":path": "/", accept: "text/html", "set-cookie": ["a=1", "b=2"] };

test("reads single headers without creating Headers", () => {
  const headers = createLazyHeaders(source, none);
  expect(headers.get("Accept")).toBe("text/html");
  expect([headers.has("accept"), headers.has("missing"), headers.has("constructor")]).toEqual([true, false, false]);
  expect([headers.get(":path"), headers.get("__proto__")]).toEqual([null, null]);
});

test("behaves as Headers when changed or copied", () => {
  const headers = createLazyHeaders(source, none);
  headers.set("accept", "*/*");
  headers.append("x-a", "1");
  headers.delete("set-cookie");
  expect(headers.get("accept")).toBe("*/*");
  expect(Object.fromEntries(new Headers(headers))).toEqual({ accept: "*/*", "x-a": "1" });
  expect([...headers.keys()]).toEqual(["accept", "x-a"]);
  expect([...headers.values()]).toEqual(["*/*", "1"]);
  expect([...headers.entries()]).toEqual([...headers]);
  const seen: string[] = [];
  headers.forEach((value, name) => seen.push(`${name}=${value}`));
  expect(seen).toEqual(["accept=*/*", "x-a=1"]);
});

test("joins repeated headers", () => {
  const headers = createLazyHeaders(source, none);
  expect(headers.get("set-cookie")).toBe("a=1, b=2");
  expect(headers.getSetCookie()).toEqual(["a=1", "b=2"]);
});

test("hides denied headers from every accessor", () => {
  const headers = createLazyHeaders(source, new Set(["accept"]));
  expect([headers.get("Accept"), headers.has("accept")]).toEqual([null, false]);
  expect([...headers.keys()]).toEqual(["set-cookie", "set-cookie"]);
  expect(headers.get("accept")).toBeNull();
});
