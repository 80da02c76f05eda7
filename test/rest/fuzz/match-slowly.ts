import type { FuzzRule, FuzzSegment } from "./draw-rules.ts";

interface SlowMatch {
  readonly rule: FuzzRule | undefined;
  readonly values: readonly string[];
  /** If no rule matches the method: the methods of the rules that match the path. */
  readonly allow: readonly string[];
}

/**
 * A reference implementation of the routing rules of src/rest/README.md. It tries every rule in every possible way and
 * returns the preferred match. It shares no code with the router.
 */
export function matchSlowly(rules: readonly FuzzRule[], method: string, path: string): SlowMatch {
  const allow = new Set<string>();
  for (const { segments, verb } of readingsOf(rules, path)) {
    if (verb === "" && allow.size > 0) break;
    const takers = rules
      .filter((rule) => rule.verb === verb)
      .flatMap((rule) => waysToTake(rule.segments, segments).map((taken) => ({ rule, taken })))
      .toSorted((left, right) => compare(left.rule, right.rule));
    const chosen = takers.find(({ rule }) => rule.method === method || rule.method === "*");
    if (chosen !== undefined) return { rule: chosen.rule, values: valuesOf(chosen.rule, chosen.taken), allow: [] };
    for (const { rule } of takers) allow.add(rule.method);
  }
  return { rule: undefined, values: [], allow: [...allow].toSorted() };
}

/** Reports whether two rules have the same method and match the same paths. A rule set can contain only one of them. */
export function isConflict(one: FuzzRule, other: FuzzRule): boolean {
  const key = ({ method, segments, verb }: FuzzRule): string =>
    JSON.stringify([method, verb, segments.map((segment) => [segment.kind, "value" in segment ? segment.value : ""])]);
  return key(one) === key(other);
}

/** Returns the possible splits of the path into segments and verb: declared verbs, the longest first, then no verb. */
function readingsOf(rules: readonly FuzzRule[], path: string): { segments: string[]; verb: string }[] {
  const segments = path.slice(1).split("/");
  const last = segments.pop() ?? "";
  const readings = [];
  for (let colon = last.indexOf(":"); colon !== -1; colon = last.indexOf(":", colon + 1)) {
    const verb = decodeURIComponent(last.slice(colon + 1));
    if (verb === "" || !rules.some((rule) => rule.verb === verb)) continue;
    readings.push({ segments: [...segments, last.slice(0, colon)], verb });
  }
  return [...readings, { segments: [...segments, last], verb: "" }];
}

/**
 * Returns every way in which the template matches the path: for each segment of the template, the segments that it matches.
 */
function waysToTake(template: readonly FuzzSegment[], path: readonly string[]): string[][][] {
  const [first, ...others] = template;
  if (first === undefined) return path.length === 0 ? [[]] : [];
  const counts = first.kind === "**" ? Array.from({ length: path.length + 1 }, (_, count) => count) : [1];
  return counts
    .filter((count) => count <= path.length && fits(first, path[0] ?? ""))
    .flatMap((count) => waysToTake(others, path.slice(count)).map((taken) => [path.slice(0, count), ...taken]));
}

function fits(segment: FuzzSegment, text: string): boolean {
  if (segment.kind === "literal") return decodeURIComponent(text) === segment.value;
  return segment.kind === "**" || text !== "";
}

/** Decodes the values. A variable of several segments keeps `%2F` and `%2f`. */
function valuesOf({ variables }: FuzzRule, taken: readonly string[][]): string[] {
  return variables.map(({ start, end, single }) => {
    const text = taken.slice(start, end).flat().join("/");
    return decodeURIComponent(single ? text : text.replaceAll(/%(?=2f)/gi, "%25"));
  });
}

const ranks = ["end", "literal", "*", "**"];

/** Compares segment by segment: end, literal, `*`, `**`. After `**`, more literals are preferred. */
function compare(left: FuzzRule, right: FuzzRule): number {
  for (let index = 0; ; index++) {
    const [one, other] = [left, right].map(({ segments }) => segments[index]?.kind ?? "end");
    const difference = ranks.indexOf(one ?? "end") - ranks.indexOf(other ?? "end");
    if (difference !== 0) return difference;
    if (one === "**" || one === "end") break;
  }
  return right.segments.length - left.segments.length || Number(left.method === "*") - Number(right.method === "*");
}
