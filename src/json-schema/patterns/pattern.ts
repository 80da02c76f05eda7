// The regular expressions of schemas. `RegExp` tries one path after the other, in a time that may grow exponentially with the text.
// Here a pattern runs on all its paths at once, and each step counts: as many as the text is long, times the size of the pattern at
// most. This needs patterns without look-around and back-references. All others mean what they mean in ECMA-262, as JSON Schema
// demands. RE2 would not do: its classes differ, and the package that CEL has counts no steps, of which it may take a thousand for
// each character.
import { SchemaError } from "../schema-error.ts";
import { type Work, spend } from "../work.ts";
import { type Assertion, type PatternPart, isAnchored, parsePattern, sizeOfPart } from "./parse-pattern.ts";
import { type Program, compileProgram } from "./program.ts";

export interface Pattern {
  readonly text: string;
  readonly test: (text: string, work: Work) => boolean;
}

const maxSize = 2_000;

/** What it takes to compile a pattern, beside its size. */
const stepsOfPattern = 16;

/** What `RegExp` takes to read and compile a property of Unicode: some have hundreds of ranges. */
const stepsOfProperty = 200;

/** What it takes to start, before the first character. */
const stepsOfStart = 4;

/**
 * @param location in the schema, for errors.
 * @param work some steps, as many as the pattern is large, and some for each class and each property of Unicode.
 * @throws SchemaError when it is no pattern of ECMA-262, or not accepted.
 */
export function compilePattern(text: string, location: string, work: Work): Pattern {
  // Before `RegExp` sees it.
  spend(work, stepsOfProperty * (text.match(/\\p\{/gi)?.length ?? 0));
  const part = parse(text, location);
  const size = sizeOfPart(part);
  if (size > maxSize) {
    const problem = `is too large: with its repetitions it has the size ${size}, and at most ${maxSize} is accepted`;
    throw new SchemaError(location, `the pattern ${JSON.stringify(text)} ${problem}`);
  }
  spend(work, stepsOfPattern + size);
  const program = compileProgram(part, work);
  const fromStart = isAnchored(part);
  return { text, test: (value, left) => run(program, fromStart, value, left) };
}

function parse(text: string, location: string): PatternPart {
  try {
    RegExp(text, "u");
  } catch {
    throw new SchemaError(location, `the pattern ${JSON.stringify(text)} must be a regular expression of ECMA-262`);
  }
  try {
    return parsePattern(text);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    const accepted = "must be one without look-around, back-references and modifiers, which can take too long";
    throw new SchemaError(location, `the pattern ${JSON.stringify(text)} ${accepted}: ${problem}`);
  }
}

/** Runs a program on all its paths at once: each instruction at most once for each character. */
function run({ instructions, start }: Program, fromStart: boolean, text: string, work: Work): boolean {
  const reached = new Int32Array(instructions.length).fill(-1);
  let waiting: number[] = [];
  let before = -1;
  spend(work, stepsOfStart + instructions.length / 64);
  for (let at = 0; ;) {
    const rune = text.codePointAt(at) ?? -1;
    if (at === 0 || !fromStart) waiting.push(start);
    else if (waiting.length === 0) return false;
    const next: number[] = [];
    let steps = 0;
    for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
      if (reached[index] === at) continue;
      reached[index] = at;
      steps++;
      const instruction = instructions[index];
      if (instruction?.kind === "character") {
        if (rune >= 0 && instruction.matches(rune)) next.push(instruction.next);
      } else if (instruction?.kind === "either") waiting.push(instruction.next, instruction.other);
      else if (instruction?.kind === "assertion") {
        if (isTrue(instruction.text, before, rune)) waiting.push(instruction.next);
      } else return true;
    }
    spend(work, steps);
    if (rune < 0) return false;
    waiting = next;
    before = rune;
    at += rune > 0xffff ? 2 : 1;
  }
}

/** Reports whether an assertion is true between two characters; -1 stands for an end of the text. */
function isTrue(assertion: Assertion, before: number, after: number): boolean {
  switch (assertion) {
    case "^":
      return before < 0;
    case "$":
      return after < 0;
    case "\\b":
      return isWord(before) !== isWord(after);
    case "\\B":
      return isWord(before) === isWord(after);
  }
}

const isWord = (rune: number): boolean =>
  (rune >= 0x61 && rune <= 0x7a) || (rune >= 0x41 && rune <= 0x5a) || (rune >= 0x30 && rune <= 0x39) || rune === 0x5f;
