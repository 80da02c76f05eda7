import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parsePathTemplate, type PathTemplate } from "../../../src/rest/routing/path-template.ts";
import { createRouteTrie, type RouteTrie } from "../../../src/rest/routing/route-trie.ts";
import { ratioOf } from "../../support/cpu-time.ts";

interface Rule {
  readonly method: string;
  readonly template: PathTemplate;
}

function createTrie(...rules: (readonly [method: string, template: string])[]): RouteTrie<string> {
  const trie = createRouteTrie<string>();
  for (const [method, template] of rules) trie.add(method, parsePathTemplate(template), template, template);
  return trie;
}

describe("a route trie", () => {
  test("backtracks if a choice leads to no rule for the method", () => {
    const trie = createTrie(["POST", "/a/b"], ["GET", "/a/{x}"]);
    expect(trie.match("GET", "/a/b")).toEqual({ route: "/a/{x}", values: ["b"] });
    expect(trie.match("PUT", "/a/b")).toEqual({ route: undefined, allow: ["POST", "GET"] });
  });

  test("backtracks if a choice leads to no rule for the verb", () => {
    const trie = createTrie(["GET", "/a/b"], ["GET", "/{x=**}:do"]);
    expect(trie.match("GET", "/a/b:do")).toEqual({ route: "/{x=**}:do", values: ["a/b"] });
  });

  test("keeps a colon in a name if no rule has the text after it as a verb", () => {
    const trie = createTrie(["GET", "/a/{x}"], ["GET", "/a/{x}:do"]);
    expect(trie.match("GET", "/a/urn:isbn:1")).toEqual({ route: "/a/{x}", values: ["urn:isbn:1"] });
    expect(trie.match("GET", "/a/urn:isbn:do")).toEqual({ route: "/a/{x}:do", values: ["urn:isbn"] });
    expect(trie.match("GET", "/a/urn%3Ado")).toEqual({ route: "/a/{x}", values: ["urn:do"] });
  });

  test("has no rule for a method if the path ends with a verb of other methods", () => {
    const trie = createTrie(["GET", "/a/{x}"], ["POST", "/a/{x}:do"]);
    expect(trie.match("GET", "/a/b:do")).toEqual({ route: undefined, allow: ["POST"] });
    expect(trie.match("GET", "/a/b:undo")).toEqual({ route: "/a/{x}", values: ["b:undo"] });
  });

  test("prefers the rule for a method to one for any method", () => {
    const trie = createTrie(["*", "/a/{x}"], ["GET", "/a/{y}"]);
    expect(trie.match("GET", "/a/b").route).toBe("/a/{y}");
    expect(trie.match("BREW", "/a/b").route).toBe("/a/{x}");
  });

  test("matches * with one non-empty segment, and ** with any number of segments", () => {
    const trie = createTrie(["GET", "/a/*"], ["GET", "/b/{x=**}/c"]);
    expect(trie.match("GET", "/a/").route).toBeUndefined();
    expect(trie.match("GET", "/b/c")).toMatchObject({ values: [""] });
    expect(trie.match("GET", "/b//d/c")).toMatchObject({ values: ["/d"] });
  });

  test("names both rules when two match the same paths", () => {
    expect(() => createTrie(["GET", "/a/{x}"], ["GET", "/{y=a/*}"])).toThrow(
      "GET /{y=a/*} of /{y=a/*} and GET /a/{x} of /a/{x} match the same paths",
    );
  });

  test("matches long paths in linear time", () => {
    const deep = "/a/{x}".repeat(1).concat("/{y=**}");
    const trie = createTrie(["GET", deep], ["GET", "/a/*/*/*/b:do"], ["GET", "/a/{x}/{y=**}/z"]);
    for (const path of [`/a${"/".repeat(64_000)}`, `/a${"/a".repeat(32_000)}`, `/a/b/${":do".repeat(20_000)}`]) {
      const ratio = ratioOf(
        () => trie.match("GET", path),
        () => Array.from(path),
      );
      expect(ratio, path.slice(0, 10)).toBeLessThan(3);
    }
  });

  test("agrees with the reference implementation", () => {
    const name = fc.constantFrom("a", "b", "c:d");
    const middle = fc.oneof(name, fc.constantFrom("*", "{v}", "{w=a/*}"));
    const template = fc
      .tuple(
        fc.array(middle, { minLength: 1, maxLength: 3 }),
        fc.option(fc.tuple(fc.constantFrom("**", "{deep=**}", "{deep=b/**}"), fc.array(name, { maxLength: 2 })), {
          nil: undefined,
        }),
        fc.constantFrom("", "", ":d", ":e"),
      )
      .map(([start, deep, verb]) => `/${[...start, ...(deep ? [deep[0], ...deep[1]] : [])].join("/")}${verb}`);
    const rules = fc.array(fc.tuple(fc.constantFrom("GET", "POST", "*"), template), { minLength: 1, maxLength: 8 });
    const path = fc
      .array(fc.constantFrom("a", "b", "c:d", "a:d", "x", "", "%61", "b%2Fb"), { minLength: 1, maxLength: 6 })
      .chain((segments) => fc.constantFrom("", ":d", ":e").map((verb) => `/${segments.join("/")}${verb}`));
    fc.assert(
      fc.property(rules, fc.array(path, { minLength: 1, maxLength: 10 }), (given, paths) => {
        const trie = createRouteTrie<Rule>();
        const added: Rule[] = [];
        for (const [method, text] of given) {
          try {
            const rule = { method, template: parsePathTemplate(text) };
            trie.add(method, rule.template, rule, text);
            added.push(rule);
          } catch {
            // The template has a variable twice, or the rule exists already.
          }
        }
        for (const each of paths) {
          const found = trie.match("GET", each);
          expect(found).toEqual(matchSlowly(added, "GET", each));
        }
      }),
      { numRuns: 2000 },
    );
  });
});

/** The reference implementation: tries every rule in every possible way and returns the best match. */
function matchSlowly(rules: Rule[], method: string, path: string): unknown {
  const verbs = new Set(rules.map((rule) => rule.template.verb).filter((verb) => verb !== ""));
  const missed = new Set<string>();
  const lastSegment = path.slice(path.lastIndexOf("/") + 1);
  const readings = [...lastSegment.matchAll(/:/g)]
    .map(({ index }) => ({ verb: lastSegment.slice(index + 1), end: path.length - lastSegment.length + index }))
    .filter(({ verb }) => verbs.has(verb));
  for (const { verb, end } of [...readings, { verb: "", end: path.length }]) {
    if (verb === "" && missed.size > 0) break;
    const segments = path.slice(1, end).split("/");
    const texts = end === 0 ? [] : segments;
    const matching = rules.flatMap((rule) => {
      const spans = rule.template.verb === verb ? spansOf(rule.template, texts) : undefined;
      return spans === undefined ? [] : [{ rule, spans }];
    });
    matching.sort((left, right) => compare(left.rule, right.rule));
    for (const { rule, spans } of matching) {
      if (rule.method === method || rule.method === "*") {
        return {
          route: rule,
          values: rule.template.variables.map((variable) => {
            const raw = spans.slice(variable.start, variable.end).flat();
            const decode = (text: string): string =>
              decodeURIComponent(variable.single ? text : text.replaceAll("%2F", "%252F"));
            return raw.map(decode).join("/");
          }),
        };
      }
    }
    for (const { rule } of matching) missed.add(rule.method);
  }
  return {
    route: undefined,
    allow: expect.toSatisfy((allow: string[]) => allow.toSorted().join() === [...missed].toSorted().join()),
  };
}

/** Returns the segments of the path that each segment of the template matches. */
function spansOf({ segments }: PathTemplate, texts: string[]): string[][] | undefined {
  const deep = segments.findIndex((segment) => segment.kind === "**");
  const extra = texts.length - segments.length;
  if (deep === -1 ? extra !== 0 : extra < -1) return undefined;
  const spans = segments.map((_segment, index) => {
    if (deep === -1 || index < deep) return [texts[index] ?? ""];
    if (index === deep) return texts.slice(deep, deep + extra + 1);
    return [texts[index + extra] ?? ""];
  });
  const fits = segments.every((segment, index) => {
    const [text = ""] = spans[index] ?? [];
    if (segment.kind === "literal") return decodeURIComponent(text) === segment.value;
    return segment.kind === "**" || text !== "";
  });
  return fits ? spans : undefined;
}

/** Compares segment by segment: end, literals, `*`, `**`. After `**`, more literals are preferred. */
function compare(left: Rule, right: Rule): number {
  const order = [undefined, "literal", "*", "**"];
  const [one, other] = [left.template.segments, right.template.segments];
  for (let index = 0; index < Math.max(one.length, other.length); index++) {
    const difference = order.indexOf(one[index]?.kind) - order.indexOf(other[index]?.kind);
    if (difference !== 0) return difference;
    if (one[index]?.kind === "**") break;
  }
  return other.length - one.length || Number(left.method === "*") - Number(right.method === "*");
}
