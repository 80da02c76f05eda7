import { type Draw, pick } from "./draw.ts";

/** A random rule and its meaning, which is derived without the parser under test. */
export interface FuzzRule {
  readonly method: string;
  readonly text: string;
  readonly segments: readonly FuzzSegment[];
  /** Decoded; empty if the rule has no verb. */
  readonly verb: string;
  readonly variables: readonly { readonly start: number; readonly end: number; readonly single: boolean }[];
  /** Reports whether the grammar allows the rule. */
  readonly valid: boolean;
}

/** `raw` is the literal as written in the template. */
export type FuzzSegment =
  | { readonly kind: "literal"; readonly raw: string; readonly value: string }
  | { readonly kind: "*" }
  | { readonly kind: "**" };

const methods = ["GET", "GET", "GET", "POST", "DELETE", "*"] as const;
const requestMethods = ["GET", "POST", "DELETE", "PUT", "*"] as const;
const plain = ["a", "b", "a", "b", "c", "%61", "a%2Fb", "a%2fb", "%252F", "b%3Ax", "a%3Ado", "caf%C3%A9"] as const;
const odd = ["@me", "~", "a.b", "%25", "%2F", "%20", "..", "a:b", "c:d:e", "a:do"] as const;
const verbs = ["", "", "", "do", "undo", "do:it", "it", "%64o", "x%3Ay", "do:it:now"] as const;
const words = [
  "a",
  "b",
  "x",
  "%61",
  "a%2Fb",
  "a%2fb",
  "caf%C3%A9",
  "%2F",
  "%252F",
  "..",
  "",
  "a%20%2Fb",
  "%25%2F%2f",
] as const;
const namesWithColons = ["a:do", "b:x", ":do", "a:do:it", "a:", "a%3Ado", "x:y", "urn:isbn:it"] as const;

export function drawRule(draw: Draw): FuzzRule {
  const segments: FuzzSegment[] = [];
  const variables: { start: number; end: number; single: boolean; name: string }[] = [];
  const parts = Array.from({ length: 1 + draw(4) }, (_part, index) => {
    const start = segments.length;
    const form = draw(6);
    if (form < 3) return add(drawSegment(draw, true));
    // Some templates name a variable twice, which is invalid.
    const name = draw(40) === 39 ? "v0" : `v${index}${draw(4) === 3 ? ".w" : ""}`;
    let text = `{${name}}`;
    if (form === 3) add({ kind: "*" });
    else text = `{${name}=${Array.from({ length: 1 + draw(3) }, () => add(drawSegment(draw, false))).join("/")}}`;
    const end = segments.length;
    variables.push({ name, start, end, single: end - start === 1 && segments[start]?.kind !== "**" });
    return text;
  });

  function add(segment: FuzzSegment): string {
    segments.push(segment);
    return segment.kind === "literal" ? segment.raw : segment.kind;
  }

  // A ":" in the last segment starts a verb, so it is escaped in a literal there.
  const last = segments.at(-1);
  const variable = variables.at(-1);
  if (last?.kind === "literal" && variable?.end !== segments.length && last.raw.includes(":")) {
    const raw = last.raw.replaceAll(":", "%3A");
    segments[segments.length - 1] = { ...last, raw };
    parts[parts.length - 1] = raw;
  }
  const verb = pick(draw, verbs);
  const deep = segments.findIndex(({ kind }) => kind === "**");
  const names = variables.map(({ name }) => name);
  return {
    method: pick(draw, methods),
    text: `/${parts.join("/")}${verb === "" ? "" : `:${verb}`}`,
    segments,
    verb: decodeURIComponent(verb),
    variables,
    valid:
      new Set(names).size === names.length &&
      (deep === -1 || segments.slice(deep + 1).every(({ kind }) => kind === "literal")),
  };
}

function drawSegment(draw: Draw, mayHoldColons: boolean): FuzzSegment {
  const form = draw(16);
  if (form > 13) return { kind: "**" };
  if (form > 9) return { kind: "*" };
  const raw = form > 7 ? pick(draw, odd) : pick(draw, plain);
  const written = mayHoldColons ? raw : raw.replaceAll(":", "%3A");
  return { kind: "literal", raw: written, value: decodeURIComponent(written) };
}

/** Draws a request that matches one of the rules, or differs from a match by one change. */
export function drawRequest(draw: Draw, rules: readonly FuzzRule[]): { method: string; path: string } {
  const rule = rules[draw(rules.length)];
  const segments = (rule?.segments ?? []).flatMap((segment) => {
    if (segment.kind === "literal") return [drawSpelling(draw, segment)];
    return segment.kind === "*" ? [drawWord(draw)] : Array.from({ length: draw(4) }, () => drawWord(draw));
  });
  const at = draw(segments.length + 1);
  const change = draw(10);
  if (change === 6) segments.splice(at, 1);
  if (change === 7) segments.splice(at, 0, drawWord(draw));
  if (change === 8) segments[Math.min(at, segments.length - 1)] = drawWord(draw);
  if (change === 9) segments.push("");
  const own = rule?.text.slice(rule.text.length - writtenVerbLength(rule)) ?? "";
  const verb = draw(5) < 4 ? own : `:${pick(draw, verbs)}`;
  const method = draw(4) < 3 && rule !== undefined && rule.method !== "*" ? rule.method : pick(draw, requestMethods);
  return { method, path: `/${segments.join("/")}${verb}` };
}

/** Returns the length of the verb as written in the template, with its colon. */
function writtenVerbLength({ text, verb }: FuzzRule): number {
  if (verb === "") return 0;
  const written = verbs.find((candidate) => decodeURIComponent(candidate) === verb && text.endsWith(`:${candidate}`));
  return (written ?? "").length + 1;
}

/** Draws one of the encodings of a literal. */
function drawSpelling(draw: Draw, { raw, value }: { raw: string; value: string }): string {
  switch (draw(4)) {
    case 2:
      return encodeURIComponent(value);
    case 3:
      return [...Buffer.from(value)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
    default:
      return raw;
  }
}

function drawWord(draw: Draw): string {
  return draw(4) === 3 ? pick(draw, namesWithColons) : pick(draw, words);
}
