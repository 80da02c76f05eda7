import { type Work, spend } from "../work.ts";
import type { Assertion, PatternPart } from "./parse-pattern.ts";

/** A step of a pattern. Numbers are those of the instructions that come next. */
type Instruction =
  | { readonly kind: "character"; readonly matches: (rune: number) => boolean; readonly next: number }
  | { readonly kind: "assertion"; readonly text: Assertion; readonly next: number }
  | { readonly kind: "either"; next: number; readonly other: number }
  | { readonly kind: "match" };

/** A pattern as instructions. Repeated parts are there as often as they may be repeated. */
export interface Program {
  readonly instructions: readonly Instruction[];
  readonly start: number;
}

/** @param work what the classes in it take. */
export function compileProgram(pattern: PatternPart, work: Work): Program {
  const instructions: Instruction[] = [];
  const matchers = new Map<string, (rune: number) => boolean>();

  const add = (instruction: Instruction): number => instructions.push(instruction) - 1;

  const matcherOf = (text: string): ((rune: number) => boolean) => {
    const matches = matchers.get(text) ?? createMatcher(text, work);
    matchers.set(text, matches);
    return matches;
  };

  /** Returns the instruction at which a part starts, before the next one. */
  const compile = (part: PatternPart, next: number): number => {
    switch (part.kind) {
      case "character":
        return add({ kind: "character", matches: matcherOf(part.text), next });
      case "assertion":
        return add({ kind: "assertion", text: part.text, next });
      case "sequence":
        return part.parts.reduceRight((after, each) => compile(each, after), next);
      case "any of":
        return part.parts
          .map((each) => compile(each, next))
          .reduceRight((other, each) => add({ kind: "either", next: each, other }));
      case "repeat":
        return compileRepeat(part, next);
    }
  };

  const compileRepeat = ({ part, min, max }: PatternPart & { kind: "repeat" }, next: number): number => {
    let start = next;
    if (max === Infinity) {
      const loop = { kind: "either" as const, next: 0, other: next };
      start = add(loop);
      loop.next = compile(part, start);
    } else
      for (let optional = max - min; optional > 0; optional--) {
        start = add({ kind: "either", next: compile(part, start), other: next });
      }
    for (let required = min; required > 0; required--) start = compile(part, start);
    return start;
  };

  const end = add({ kind: "match" });
  return { instructions, start: compile(pattern, end) };
}

const asciiEnd = 0x80;

/** What `RegExp` takes to compile a class, without the properties in it. */
const stepsOfClass = 10;

/** Returns whether one character is among those that a part of a pattern stands for. `RegExp` knows, in a time that is limited. */
function createMatcher(text: string, work: Work): (rune: number) => boolean {
  const [character = ""] = text;
  if (character === text && text !== ".") return (rune) => rune === text.codePointAt(0);
  spend(work, stepsOfClass);
  const expression = new RegExp(`^(?:${text})$`, "u");
  const test = (rune: number): boolean => expression.test(String.fromCodePoint(rune));
  const ascii = Array.from({ length: asciiEnd }, (_, rune) => test(rune));
  return (rune) => ascii[rune] ?? test(rune);
}
