import { ts } from "@ts-morph/common";
import type { ListedFunction } from "./read-list.ts";

const accepted = 70;

interface FoundFunction {
  readonly file: string;
  readonly name: string;
  /** Where it begins, from 1. */
  readonly line: number;
  /** From its first line to its last, as the rule max-lines-per-function counts. */
  readonly lines: number;
}

/**
 * Returns an error for each function of more than 70 lines that is not listed with its length, and for each listed one that is short
 * or gone.
 */
export function checkFunctions(
  sources: ReadonlyMap<string, string>,
  listed: ReadonlyMap<string, ListedFunction>,
): readonly string[] {
  const found = findLongest(sources);
  const unlisted = [...found].filter(([key, { lines }]) => lines > accepted && !listed.has(key));
  return [
    ...unlisted.map(([, each]) => `${describe(each)}; at most ${accepted} are accepted: give its parts names`),
    ...[...listed].flatMap(([key, entry]) => checkListed(key, entry, found.get(key))),
  ];
}

function checkListed(key: string, { lines }: ListedFunction, found: FoundFunction | undefined): readonly string[] {
  if (found === undefined) return [`${key}: there is no such function; remove its entry from longFunctions`];
  if (found.lines <= accepted) {
    return [`${describe(found)}, and ${accepted} need no entry; remove its entry from longFunctions`];
  }
  if (found.lines > lines) {
    return [`${describe(found)}; longFunctions lists ${lines}, so at most ${lines} are accepted: move code out of it`];
  }
  // A function that may grow back would do so.
  if (found.lines < lines) return [`${describe(found)}; longFunctions lists ${lines}: list ${found.lines} instead`];
  return [];
}

function describe({ file, name, line, lines }: FoundFunction): string {
  return `${file}:${line}: the function ${name} has ${lines} lines`;
}

/** Returns the functions of the files by "file name"; of those with the same name in one file, the longest. */
function findLongest(sources: ReadonlyMap<string, string>): ReadonlyMap<string, FoundFunction> {
  const longest = new Map<string, FoundFunction>();
  for (const [file, text] of sources) {
    for (const found of functionsIn(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true))) {
      const key = `${file} ${found.name}`;
      if (found.lines > (longest.get(key)?.lines ?? 0)) longest.set(key, found);
    }
  }
  return longest;
}

function functionsIn(file: ts.SourceFile): readonly FoundFunction[] {
  const all: FoundFunction[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined) {
      const first = file.getLineAndCharacterOfPosition(node.getStart()).line;
      const last = file.getLineAndCharacterOfPosition(node.end).line;
      all.push({ file: file.fileName, name: qualifiedName(node), line: first + 1, lines: last - first + 1 });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return all;
}

/** Returns the names of a function and of the functions and classes around it, as in "createBatcher.flush". */
function qualifiedName(node: ts.Node): string {
  const names: string[] = [];
  for (let each = node; !ts.isSourceFile(each); each = each.parent) {
    if (ts.isFunctionLike(each) || ts.isClassLike(each)) names.unshift(ownName(each));
  }
  return names.join(".");
}

function ownName(node: ts.SignatureDeclaration | ts.ClassLikeDeclaration): string {
  if (ts.isConstructorDeclaration(node)) return "constructor";
  if (node.name !== undefined) return node.name.getText();
  const { parent } = node;
  const isNamed = (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)) && parent.initializer === node;
  return isNamed ? parent.name.getText() : "(anonymous)";
}
