import { describe, expect, test } from "vitest";
import { parsePathTemplate } from "../../../src/rest/routing/path-template.ts";
import { parseRequestTarget } from "../../../src/rest/routing/request-target.ts";
import { createRouteTrie } from "../../../src/rest/routing/route-trie.ts";
import { expectedOf, haveVectors, loadVectors } from "../vectors/load-vectors.ts";

interface Outcome {
  readonly match: string | null;
  readonly variables?: Record<string, string>;
  readonly status?: number;
  readonly allow?: string[];
}

interface Request extends Outcome {
  readonly method: string;
  readonly path: string | null;
  readonly path_expr?: string;
  readonly spec_reading?: "same" | Outcome;
}

interface Group {
  readonly name: string;
  readonly rules: { id: string; method: string; template: string }[];
  readonly requests: Request[];
}

const groups = loadVectors<Group>("matching.json").filter((group) => group.name !== "esp_dup");

describe.skipIf(!haveVectors)("routes of other implementations", () => {
  describe.each(groups.map((group) => [group.name, group] as const))("%s", (name, group) => {
    const trie = createTrie(group);
    test.each(group.requests.map((request) => [request.method, pathOf(request), request] as const))(
      "%s %s",
      (method, path, request) => {
        const row = typeof request.spec_reading === "object" ? request.spec_reading : request;
        const found = find(trie, method, path);
        const { match, status = found.status, variables = found.variables, allow = found.allow } = row;
        const outcome = { match, status, variables, allow: allow?.toSorted() };
        expect(found).toEqual(expectedOf("matching.json", [name, method, path, request.match], outcome));
      },
    );
  });

  test("of which two are the same are refused", () => {
    const group = loadVectors<Group>("matching.json").find(({ name }) => name === "esp_dup");
    expect(() => group && createTrie(group)).toThrow("match the same paths");
  });
});

interface Target {
  readonly id: string;
  readonly fields: string[];
}

/** Rules whose template is not valid here are left out. */
function createTrie(group: Group): ReturnType<typeof createRouteTrie<Target>> {
  const trie = createRouteTrie<Target>();
  for (const rule of group.rules) {
    let template;
    try {
      template = parsePathTemplate(rule.template);
    } catch {
      continue;
    }
    const fields = template.variables.map((variable) => variable.fieldPath.join("."));
    trie.add(rule.method, template, { id: rule.id, fields }, rule.id);
  }
  return trie;
}

function find(trie: ReturnType<typeof createTrie>, method: string, target: string): Outcome {
  let path;
  try {
    ({ path } = parseRequestTarget(target));
  } catch {
    return { match: null, status: 400 };
  }
  const found = trie.match(method, path);
  if (found.route === undefined) {
    return { match: null, status: found.allow.length > 0 ? 405 : 404, allow: found.allow.toSorted() };
  }
  const { id, fields } = found.route;
  return { match: id, variables: Object.fromEntries(fields.map((field, index) => [field, found.values[index] ?? ""])) };
}

function pathOf({ path, path_expr: expression }: Request): string {
  if (path !== null) return path;
  return `/a/${"/".repeat(64_000)}/${expression?.includes("/x") ? "x" : "y"}`;
}
