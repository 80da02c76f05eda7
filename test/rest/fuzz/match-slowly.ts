import type { FuzzRule, FuzzSegment } from "./draw-rules.ts";

interface SlowMatch {
  readonly rule: FuzzRule | undefined;
  readonly values: readonly string[];
  /** When no rule takes the method: those that one does take. */
  readonly allow: readonly string[];
}

/**
 * What src/rest/README.md says of routing, word by word and without any thought for speed: all rules, each in all ways
 * in which it can take the path, and then the one that is preferred. Shares no code with the router.
 */
export function matchSlowly(rules: readonly FuzzRule[], method: string, path: string): SlowMatch {
  const allow = new Set<string>();
  for (const { segments, verb } of readingsOf(rules, path)) {
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

/** Whether two rules are for the same method and the same paths, so that there can be only one of them. */
export function isConflict(one: FuzzRule, other: FuzzRule): boolean {
  const key = ({ method, segments, verb }: FuzzRule): string =>
    JSON.stringify([method, verb, segments.map((segment) => [segment.kind, "value" in segment ? segment.value : ""])]);
  return key(one) === key(other);
}

/** The path with its end read as a verb where some rule has that verb, the longest first; then as it is. */
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

/** All ways in which a template takes the segments of a path: what each of its own takes. */
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

/** Decoded in full when it is one segment; else `%2F` and `%2f` stay. */
function valuesOf({ variables }: FuzzRule, taken: readonly string[][]): string[] {
  return variables.map(({ start, end, single }) => {
    const text = taken.slice(start, end).flat().join("/");
    return decodeURIComponent(single ? text : text.replaceAll(/%(?=2f)/gi, "%25"));
  });
}

const ranks = ["end", "literal", "*", "**"];

/** Segment by segment, an end before a literal before `*` before `**`; after `**`, the more literals the better. */
function compare(left: FuzzRule, right: FuzzRule): number {
  for (let index = 0; ; index++) {
    const [one, other] = [left, right].map(({ segments }) => segments[index]?.kind ?? "end");
    const difference = ranks.indexOf(one ?? "end") - ranks.indexOf(other ?? "end");
    if (difference !== 0) return difference;
    if (one === "**" || one === "end") break;
  }
  return right.segments.length - left.segments.length || Number(left.method === "*") - Number(right.method === "*");
}
