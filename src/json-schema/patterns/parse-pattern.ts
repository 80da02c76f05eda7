// The regular expressions of ECMA-262 with the flag `u`, without look-around, back-references and modifiers:
//
//   disjunction = alternative *("|" alternative)
//   alternative = *(assertion / atom [quantifier])
//   assertion   = "^" / "$" / "\b" / "\B"
//   atom        = "(" ["?:" / "?<" name ">"] disjunction ")" / "[" class "]" / "." / escape / character
//   quantifier  = ("*" / "+" / "?" / "{" digits ["," [digits]] "}") ["?"]
//
// A pattern is one that `RegExp` accepts, so what is not in a class or escape needs no check here.

export type PatternPart =
  | { readonly kind: "any of"; readonly parts: readonly PatternPart[] }
  | { readonly kind: "sequence"; readonly parts: readonly PatternPart[] }
  | { readonly kind: "repeat"; readonly part: PatternPart; readonly min: number; readonly max: number }
  | { readonly kind: "assertion"; readonly text: Assertion }
  /** One character, as it is written: `a`, `\d`, `[a-z]`. */
  | { readonly kind: "character"; readonly text: string };

export type Assertion = "^" | "$" | "\\b" | "\\B";

const maxDepth = 50;

const assertions: readonly string[] = ["^", "$", "\\b", "\\B"] satisfies Assertion[];

/** A class, an escape, a quantifier, the begin of a group, or a character. */
const token =
  /\[(?:\\.|[^\]\\])*\]|\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[dD][89a-bA-B][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|k<[^>]*>|[1-9]\d*|.)|(?:[*+?]|\{\d+(?:,\d*)?\})\??|\((?:\?(?:<[^=!>][^>]*>|<[=!]|[=!]|[a-z-]*:))?|[\s\S]/gu;

/** @throws Error that says what is not accepted. */
export function parsePattern(text: string): PatternPart {
  const tokens = text.match(token) ?? [];
  let at = 0;

  const parseDisjunction = (depth: number): PatternPart => {
    if (depth > maxDepth) throw new Error(`groups are nested more than ${maxDepth} deep`);
    const parts = [parseAlternative(depth)];
    while (tokens[at] === "|") {
      at++;
      parts.push(parseAlternative(depth));
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: "any of", parts };
  };

  const parseAlternative = (depth: number): PatternPart => {
    const parts: PatternPart[] = [];
    for (let next = tokens[at]; next !== undefined && next !== "|" && next !== ")"; next = tokens[at]) {
      at++;
      if (assertions.includes(next)) parts.push({ kind: "assertion", text: next as Assertion });
      else parts.push(parseQuantifier(next.startsWith("(") ? parseGroup(next, depth) : parseCharacter(next)));
    }
    return { kind: "sequence", parts };
  };

  const parseGroup = (start: string, depth: number): PatternPart => {
    const isNamed = /^\(\?<[^=!]/.test(start);
    if (start !== "(" && start !== "(?:" && !isNamed) throw new Error(`${start} is not accepted`);
    const part = parseDisjunction(depth + 1);
    at++;
    return part;
  };

  const parseQuantifier = (part: PatternPart): PatternPart => {
    const [min, max] = readQuantifier(tokens[at] ?? "") ?? [];
    if (min === undefined || max === undefined) return part;
    at++;
    return { kind: "repeat", part, min, max };
  };

  return parseDisjunction(0);
}

function parseCharacter(text: string): PatternPart {
  if (/^\\(?:k<|[1-9])/.test(text)) throw new Error(`the back-reference ${text} is not accepted`);
  return { kind: "character", text };
}

function readQuantifier(text: string): [min: number, max: number] | undefined {
  const [, sign, min, comma, max] = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??$/.exec(text) ?? [];
  if (sign !== undefined) return [sign === "+" ? 1 : 0, sign === "?" ? 1 : Infinity];
  if (min === undefined) return undefined;
  if (comma === "") return [Number(min), Number(min)];
  return [Number(min), max === "" ? Infinity : Number(max)];
}

/** A class has as many ranges as it is long, and only some of them are looked at for a character. */
const charactersOfStep = 8;

/** Returns how large a part becomes when each part in it is there as often as it may be repeated: `(ab{3}){2}` has the size 8. */
export function sizeOfPart(part: PatternPart): number {
  switch (part.kind) {
    case "any of":
    case "sequence":
      return part.parts.reduce((sum, each) => sum + sizeOfPart(each), part.kind === "any of" ? part.parts.length : 0);
    case "repeat":
      return (part.max === Infinity ? part.min + 1 : part.max) * Math.max(1, sizeOfPart(part.part));
    case "assertion":
      return 1;
    case "character":
      return Math.ceil(part.text.length / charactersOfStep);
  }
}

export function isAnchored(part: PatternPart): boolean {
  if (part.kind === "any of") return part.parts.every(isAnchored);
  if (part.kind === "sequence") return part.parts[0] !== undefined && isAnchored(part.parts[0]);
  return part.kind === "assertion" && part.text === "^";
}
