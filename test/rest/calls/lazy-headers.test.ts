import { describe, expect, test } from "vitest";
import { createLazyHeaders, createResponseHeaders, fieldsOf } from "../../../src/rest/calls/lazy-headers.ts";

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

describe("headers of a response", () => {
  test("are in lower case", () => {
    const headers = createResponseHeaders();
    headers.set("RateLimit", '"caller-reads";r=5');
    expect([...fieldsOf(headers)]).toEqual([["ratelimit", '"caller-reads";r=5']]);
    expect([headers.get("Ratelimit"), headers.has("missing")]).toEqual(['"caller-reads";r=5', false]);
  });

  test("are checked and trimmed like those of fetch", () => {
    const headers = createResponseHeaders();
    headers.set("x-first", "1");
    for (const [name, value] of [
      ["x-line", "a\r\nx-other: b"],
      ["x-wide", "€"],
      ["x name", "a"],
      ["", "a"],
    ] as const) {
      expect(() => headers.set(name, value), name).toThrow(TypeError);
    }
    headers.set("X-Padded", "  a  ");
    expect([...fieldsOf(headers)]).toEqual([
      ["x-first", "1"],
      ["x-padded", "a"],
    ]);
  });

  test("behave as Headers after any other change", () => {
    const headers = createResponseHeaders();
    headers.set("x-b", "1");
    headers.append("x-b", "2");
    headers.set("x-a", "3");
    headers.append("set-cookie", "c=1");
    headers.append("set-cookie", "d=2");
    expect([...fieldsOf(headers)]).toEqual([...headers]);
    expect([...headers]).toEqual([
      ["set-cookie", "c=1"],
      ["set-cookie", "d=2"],
      ["x-a", "3"],
      ["x-b", "1, 2"],
    ]);
    expect(headers).toBeInstanceOf(Headers);
  });

  test("contain no fields of objects", () => {
    const headers = createResponseHeaders();
    expect([headers.get("constructor"), headers.has("__proto__"), [...fieldsOf(headers)]]).toEqual([null, false, []]);
  });
});
