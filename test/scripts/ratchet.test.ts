import { describe, expect, test } from "vitest";
import { checkFunctions } from "../../scripts/ratchet/check-functions.ts";
import { checkModuleState } from "../../scripts/ratchet/check-module-state.ts";
import { readList } from "../../scripts/ratchet/read-list.ts";

const reason = "It has its reasons.";

/** Returns a body of a function that has so many lines with its first and its last. */
function bodyOf(lines: number): string {
  return `{\n${"  step();\n".repeat(lines - 2)}}`;
}

describe("the lengths of functions", () => {
  function check(text: string, listed: Readonly<Record<string, number>> = {}): readonly string[] {
    const entries = Object.entries(listed).map(([name, lines]) => [`src/a.ts ${name}`, { lines, reason }] as const);
    return checkFunctions(new Map([["src/a.ts", text]]), new Map(entries));
  }

  test("accept 70 lines", () => {
    expect(check(`/** Has a comment. */\nexport function run() ${bodyOf(70)}`)).toEqual([]);
  });

  test("refuse 71 lines with the file, the line, the name and what is accepted", () => {
    expect(check(`/** Has a comment. */\nexport function run() ${bodyOf(71)}`)).toEqual([
      "src/a.ts:2: the function run has 71 lines; at most 70 are accepted: give its parts names",
    ]);
  });

  test.each([
    ["a variable", `const run = async () => ${bodyOf(71)};`, "run"],
    ["a property", `const all = { run: () => ${bodyOf(71)} };`, "run"],
    ["a method", `const all = { run() ${bodyOf(71)} };`, "run"],
    ["a class", `class All { run() ${bodyOf(71)} }`, "All.run"],
    ["a constructor", `class All { constructor() ${bodyOf(71)} }`, "All.constructor"],
    ["a getter", `const all = { get run() ${bodyOf(71)} };`, "run"],
    ["no name", `start(() => ${bodyOf(71)});`, "(anonymous)"],
  ])("count functions of %s", (_kind, text, name) => {
    expect(check(text)).toEqual([expect.stringContaining(`the function ${name} has 71 lines;`)]);
    expect(check(text, { [name]: 71 })).toEqual([]);
  });

  test("name a function inside of another after both, and list each", () => {
    const text = `function outer() {\n  function inner() ${bodyOf(80)}\n}`;
    expect(check(text, { outer: 82 })).toEqual([expect.stringContaining("the function outer.inner has 80 lines;")]);
    expect(check(text, { outer: 82, "outer.inner": 80 })).toEqual([]);
  });

  test("count the longest of several functions with a name", () => {
    const text = `start(() => ${bodyOf(72)});\nstart(() => ${bodyOf(90)});\nstart(() => ${bodyOf(5)});`;
    expect(check(text)).toEqual([expect.stringMatching(/^src\/a\.ts:73: .* has 90 lines;/)]);
  });

  test("do not let a listed function grow", () => {
    expect(check(`function run() ${bodyOf(91)}`, { run: 90 })).toEqual([
      "src/a.ts:1: the function run has 91 lines; longFunctions lists 90, so at most 90 are accepted: move code out of it",
    ]);
  });

  test("require that a listed function which shrank is listed with fewer lines", () => {
    expect(check(`function run() ${bodyOf(89)}`, { run: 90 })).toEqual([
      "src/a.ts:1: the function run has 89 lines; longFunctions lists 90: list 89 instead",
    ]);
  });

  test("refuse an entry whose function is short", () => {
    expect(check(`function run() ${bodyOf(70)}`, { run: 90 })).toEqual([
      "src/a.ts:1: the function run has 70 lines, and 70 need no entry; remove its entry from longFunctions",
    ]);
  });

  test("refuse an entry whose function is gone", () => {
    expect(check("", { run: 90 })).toEqual([
      "src/a.ts run: there is no such function; remove its entry from longFunctions",
    ]);
  });
});

describe("the state of modules", () => {
  function check(files: Readonly<Record<string, string>> | string, listed: readonly string[] = []): readonly string[] {
    const sources = Object.entries(typeof files === "string" ? { "src/a.ts": files } : files);
    return checkModuleState(new Map(sources), new Map(listed.map((key) => [key, reason])));
  }

  test("is refused with the file, the line, the name and what is accepted", () => {
    expect(check("\nexport let state: number | undefined;")).toEqual([
      "src/a.ts:2: the module keeps state in state: it can be assigned; a module keeps none: hand it on as an argument",
    ]);
  });

  test.each([
    ["a variable", "let state = 0;"],
    ["an old variable", "var state = 0;"],
    ["a variable that is taken apart", "let { state } = start();"],
    ["an empty Map, also if others fill it", "const state = new Map<string, number>();"],
    ["an empty WeakMap", "const state = new WeakMap<object, number>();"],
    ["an empty array", "const state: string[] = [];"],
    ["a Map", "const state = new Map([[1, 2]]); export function add() { state.set(2, 3); }"],
    ["a Set", "const state = new Set([1]); export const add = () => state.add(2);"],
    ["an array", "const state = [1]; export const add = () => { state.push(2); };"],
    ["an element", "const state = [1]; export const add = () => { state[0] = 2; };"],
    ["a property", "const state = { at: 1 }; export const add = () => { state.at += 2; };"],
    ["a property that is counted", "const state = { at: 1 }; export const add = () => state.at++;"],
    ["a property that is deleted", "const state = { at: 1 }; export const drop = () => delete state.at;"],
    [
      "a property that is assigned with others",
      "const state = { at: 1 }; export const add = () => { [state.at] = [2]; };",
    ],
    [
      "an object that takes over properties",
      "const state = {}; export const add = () => Object.assign(state, { a: 1 });",
    ],
    ["a container in another", "const state = { all: new Set() }; export const add = () => state.all.add(2);"],
    ["a container in a Map", "const state = new Map([[1, []]]); export const add = () => state.get(1)!.push(2);"],
    ["what a function made", "const state = createState(); class Counter { add() { (state as State).count = 1; } }"],
    ["one of several variables", "const other = 1, state = new Map([[1, 2]]); const drop = () => state.clear();"],
  ])("is %s", (_kind, text) => {
    expect(check(text)).toEqual([expect.stringContaining("src/a.ts:1: the module keeps state in state:")]);
    expect(check(text, ["src/a.ts state"])).toEqual([]);
  });

  test.each([
    ["a constant container", "const state = new Map([[1, 2]]); export const find = () => state.get(1);"],
    [
      "an empty container that is read only",
      "const state: ReadonlySet<string> = new Set(), none: readonly string[] = [];",
    ],
    [
      "a container that is filled when its module loads",
      "const state = new Map([[0, 0]]); for (const a of all) state.set(a, 1);",
    ],
    [
      "a variable of a function",
      "export function run() { let count = 0; const all = new Map(); all.set(count++, 1); }",
    ],
    ["a variable with the name of a constant", "const state = [1]; function run(state: number[]) { state.push(2); }"],
    ["a copy of a constant", "const state = [2, 1]; export const sorted = () => [...state].sort();"],
  ])("is not %s", (_kind, text) => {
    expect(check(text)).toEqual([]);
  });

  test("is what a function of another module changes", () => {
    const files = {
      "src/a.ts": "export const state = new Map([[1, 2]]);",
      "src/b/b.ts": 'import { state as other } from "../a.ts"; export const add = () => other.set(2, 3);',
    };
    expect(check(files)).toEqual([
      expect.stringMatching(/^src\/a\.ts:1: .* in state: a function of src\/b\/b\.ts changes it;/),
    ]);
  });

  test("is no longer listed when it is gone", () => {
    expect(check("export const state = 1;", ["src/a.ts state"])).toEqual([
      "src/a.ts state: the module keeps no such state; remove its entry from moduleState",
    ]);
  });
});

describe("the list", () => {
  test("is read by file and name", () => {
    const text = `longFunctions:\n  src/a.ts run:\n    lines: 90\n    reason: ${reason}\nmoduleState:\n  src/a.ts state: ${reason}`;
    expect(readList(text)).toEqual({
      longFunctions: new Map([["src/a.ts run", { lines: 90, reason }]]),
      moduleState: new Map([["src/a.ts state", reason]]),
    });
  });

  test.each([
    [
      "a function without a reason",
      "longFunctions: { a.ts run: { lines: 90 } }",
      "a.ts run: its reason must be a text",
    ],
    [
      "a function without lines",
      "longFunctions: { a.ts run: { reason: a } }",
      "a.ts run: its lines must be a whole number",
    ],
    [
      "state without a reason",
      "longFunctions: {}\nmoduleState: { a.ts state: ' ' }",
      "a.ts state: its reason must be a text",
    ],
    ["a missing part", "longFunctions: {}", "moduleState must have entries"],
    [
      "an unknown part",
      "longFunctions: {}\nmoduleState: {}\nfiles: {}",
      "files: the list has longFunctions and moduleState only",
    ],
  ])("refuses %s", (_kind, text, message) => {
    expect(() => readList(text)).toThrow(message);
  });
});
