import fc from "fast-check";
import { expect, test } from "vitest";
import { compilePathBuilder } from "../../../src/rest/routing/build-path.ts";
import { parsePathTemplate, type PathTemplate } from "../../../src/rest/routing/path-template.ts";
import { createRouteTrie } from "../../../src/rest/routing/route-trie.ts";
import { arbitraryNoise, createDraw } from "./draw.ts";
import { drawRequest, drawRule, type FuzzRule } from "./draw-rules.ts";
import { announce, fuzzCases, fuzzSeed, fuzzTimeoutMs } from "./fuzz-settings.ts";
import { isConflict, matchSlowly } from "./match-slowly.ts";

const requestsOfSet = 25;

test(
  `the router returns the match of the reference implementation, ${fuzzCases} times`,
  { timeout: fuzzTimeoutMs },
  () => {
    announce("routes");
    let matched = 0;
    let allowed = 0;
    const property = fc.property(arbitraryNoise(400), (noise) => {
      const draw = createDraw(noise);
      const trie = createRouteTrie<{ rule: FuzzRule; template: PathTemplate }>();
      const rules: FuzzRule[] = [];
      for (let left = 1 + draw(10); left > 0; left--) {
        const rule = drawRule(draw);
        const template = parse(rule.text);
        expect([rule.text, template !== undefined]).toEqual([rule.text, rule.valid]);
        if (template === undefined) continue;
        const add = (): void => trie.add(rule.method, template, { rule, template }, rule.text);
        if (rules.some((other) => isConflict(rule, other))) {
          expect(add).toThrow("match the same paths");
        } else {
          add();
          rules.push(rule);
        }
      }
      for (let request = 0; request < requestsOfSet; request++) {
        const { method, path } = drawRequest(draw, rules);
        const found = trie.match(method, path);
        const expected = matchSlowly(rules, method, path);
        if (found.route !== undefined) {
          matched++;
          const { rule, template } = found.route;
          check({ rule: rule.text, method: rule.method, values: found.values }, expected, method, path);
          checkBuilds(rule.method, template, found.values);
        } else {
          if (found.allow.length > 0) allowed++;
          check({ allow: found.allow.toSorted() }, expected, method, path);
        }
      }
    });
    fc.assert(property, { seed: fuzzSeed, numRuns: Math.ceil(fuzzCases / requestsOfSet) });
    // Enough requests must match a rule for the comparison to be meaningful.
    expect(matched).toBeGreaterThan(fuzzCases / 4);
    expect(allowed).toBeGreaterThan(fuzzCases / 100);
  },
);

type Found = { rule: string; method: string; values: readonly string[] } | { allow: string[] };

function check(found: Found, expected: ReturnType<typeof matchSlowly>, method: string, path: string): void {
  const { rule, values, allow } = expected;
  const wanted = rule === undefined ? { allow } : { rule: rule.text, method: rule.method, values };
  // The matcher of the test runner takes ten times as long, and is needed only to print a difference.
  if (JSON.stringify(found) !== JSON.stringify(wanted))
    expect({ method, path, ...found }).toEqual({ method, path, ...wanted });
}

/** Checks that the path built from the values of a match yields the same values again. */
function checkBuilds(method: string, template: PathTemplate, values: readonly string[]): void {
  const path = compilePathBuilder(template)(values);
  const alone = createRouteTrie<string>();
  alone.add(method, template, template.text, template.text);
  const found = path === undefined ? undefined : alone.match(method, path);
  if (JSON.stringify(found?.route === undefined ? undefined : found.values) !== JSON.stringify(values)) {
    expect({ template: template.text, path, found }).toEqual({
      template: template.text,
      path,
      found: { route: template.text, values },
    });
  }
}

function parse(text: string): PathTemplate | undefined {
  try {
    return parsePathTemplate(text);
  } catch {
    return undefined;
  }
}
