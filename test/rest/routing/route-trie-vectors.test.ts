import { parsePathTemplate } from "../../../src/rest/routing/path-template.ts";
import { parseRequestTarget } from "../../../src/rest/routing/request-target.ts";
import { createRouteTrie } from "../../../src/rest/routing/route-trie.ts";
import { loadVectors } from "../vectors/load-vectors.ts";
import { testVectors, type VectorCase } from "../vectors/test-vectors.ts";

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
  /** The statuses that other implementations return for the same request. */
  readonly status_disputed?: Record<string, number>;
}

interface Group {
  readonly name: string;
  readonly rules: { id: string; method: string; template: string }[];
  readonly requests: Request[];
}

const templates = loadVectors<{ template: string; strict_valid?: boolean; spec_reading?: string }>("templates.json");

/** Templates that http.proto does not allow. Rules with them are rejected, so their paths have no route. */
const invalidTemplates = new Set(
  templates
    .filter((row) => row.strict_valid === false && row.spec_reading?.includes("ESP extension") !== true)
    .map((row) => row.template),
);

const groups = loadVectors<Group>("matching.json");

const cases = groups.flatMap((group): VectorCase[] => {
  const { name, requests } = group;
  // Two rules for the same paths throw when they are added, as the vectors expect.
  if (name === "esp_dup") {
    return requests.map(({ method }) => ({ name, row: [name, method], run: () => tryTwice(group) }));
  }
  const trie = createTrie(group);
  const refused = new Set(group.rules.filter((rule) => invalidTemplates.has(rule.template)).map((rule) => rule.id));
  const unserved = new Set(requests.filter(({ match }) => refused.has(match ?? "")).map(({ path }) => path));
  return requests.map((request) => {
    const path = pathOf(request);
    return {
      name: `${name} ${request.method} ${path.slice(0, 100)}`,
      row: [name, request.method, request.path ?? request.path_expr, request.match],
      run() {
        const actual = find(trie, request.method, path);
        const outcome = unserved.has(request.path) ? { match: null, status: 404, allow: [] } : outcomeOf(request);
        const { match, status = actual.status, variables = actual.variables, allow = actual.allow } = outcome;
        return { actual, expected: { match, status, variables, allow: allow?.toSorted() } };
      },
    };
  });
});

testVectors("routes of other implementations", "matching.json", cases);

function tryTwice(group: Group): { actual: unknown; expected: unknown } {
  const expected = "match the same paths";
  try {
    createTrie(group);
    return { actual: "both rules are taken", expected };
  } catch (error) {
    return { actual: /match the same paths$/.exec(String(error))?.[0], expected };
  }
}

function outcomeOf(request: Request): Outcome {
  const row = typeof request.spec_reading === "object" ? request.spec_reading : request;
  // grpc-gateway responds with 501 where others use 405.
  const isNotAllowed = row.status === 501 && Object.values(request.status_disputed ?? {}).includes(405);
  return isNotAllowed ? { ...row, status: 405 } : row;
}

interface Target {
  readonly id: string;
  readonly fields: string[];
}

/** Creates a trie of the rules whose templates are valid here. */
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
