import { describe, expect, test } from "vitest";
import { compilePathBuilder } from "../../../src/rest/routing/build-path.ts";
import { parsePathTemplate } from "../../../src/rest/routing/path-template.ts";
import { createRouteTrie } from "../../../src/rest/routing/route-trie.ts";

function build(template: string, ...values: string[]): string | undefined {
  return compilePathBuilder(parsePathTemplate(template))(values);
}

describe("a path builder", () => {
  test.each([
    ["/v1/{x}", ["a b/c:d%"], "/v1/a%20b%2Fc%3Ad%25"],
    ["/v1/{x=books/*}", ["books/a b"], "/v1/books/a%20b"],
    ["/v1/{x=books/*}", ["books/a%2Fb%2fc%252F"], "/v1/books/a%2Fb%2fc%25252F"],
    ["/v1/{x=books/*/pages/*}:turn", ["books/1/pages/2"], "/v1/books/1/pages/2:turn"],
    ["/v1/{x=**}", ["a/b//c/"], "/v1/a/b//c/"],
    ["/v1/{x=**}", [""], "/v1"],
    ["/{x=**}", [""], "/"],
    ["/v1/{x=files/**}/meta", ["files"], "/v1/files/meta"],
    ["/v1/{x=files/**/meta}", ["files/a/b/meta"], "/v1/files/a/b/meta"],
    ["/v1/{x=a%2Fb/*}", ["a%2fb/c"], "/v1/a%2fb/c"],
    ["/v1/{x=a%252Fb/*}", ["a%2Fb/c"], "/v1/a%252Fb/c"],
    ["/v1/@me/{x}/%3A/{y}:a:b", ["1", "2"], "/v1/@me/1/%3A/2:a:b"],
    ["/v1/*/**", [], "/v1/*/**"],
  ])("builds from %s and %j %s, which yields the same values", (template, values, path) => {
    expect(build(template, ...values)).toBe(path);
    const trie = createRouteTrie<string>();
    trie.add("GET", parsePathTemplate(template), template, template);
    expect(trie.match("GET", path)).toEqual({ route: template, values });
  });

  test.each([
    ["/v1/{x}", [""]],
    ["/v1/{x=a}", ["b"]],
    ["/v1/{x=books/*}", ["shelves/1"]],
    ["/v1/{x=books/*}", ["books/"]],
    ["/v1/{x=books/*}", ["books/1/2"]],
    ["/v1/{x=books/*}", ["books"]],
    ["/v1/{x=books/**}", ["shelves"]],
    ["/v1/{x=a/**/b}", ["a"]],
    ["/v1/{x=a%2Fb/*}", ["a/b/c"]],
    ["/v1/{x=a/*}", ["ab/c"]],
    ["/v1/{x}", ["\ud800"]],
    ["/v1/{x}", []],
  ])("%s rejects %j", (template, values) => {
    expect(build(template, ...values)).toBeUndefined();
  });
});
