// Keywords whose schemas are applied to the same value: `allOf`, `if`, `$ref` and others.
import type { JsonValue } from "@bufbuild/protobuf";
import {
  type KeywordReader,
  type Keywords,
  isObject,
  readObject,
  readText,
  readTexts,
  show,
  valueOf,
} from "../keyword.ts";
import { type Check, type Scope, type SchemaNode, fails, isValid, isValidAlone, isValidBranch } from "../node.ts";
import { spend } from "../work.ts";

function readSchemas({ value, read, fail }: KeywordReader): SchemaNode[] {
  if (!Array.isArray(value) || value.length === 0) return fail("must be an array with at least one schema");
  return value.map((each, index) => read(each, [index], true));
}

function readAllOf(reader: KeywordReader): Check {
  const nodes = readSchemas(reader);
  return (visit) => {
    let valid = true;
    for (const node of nodes) {
      if (isValid(node, visit)) continue;
      valid = false;
      if (visit.problems === undefined) break;
    }
    return valid;
  };
}

function readAnyOf(reader: KeywordReader): Check {
  const nodes = readSchemas(reader);
  return (visit) => {
    const { problems } = visit;
    const before = problems?.list.length ?? 0;
    let valid = false;
    for (const node of nodes) {
      if (!isValidBranch(node, visit)) continue;
      valid = true;
      // The others may look at more of the value.
      if (visit.seen === undefined) break;
    }
    if (!valid) return fails(visit, "anyOf", "must match a schema in anyOf");
    problems?.list.splice(before);
    return true;
  };
}

function readOneOf(reader: KeywordReader): Check {
  const nodes = readSchemas(reader);
  return (visit) => {
    const matching: number[] = [];
    for (const [index, node] of nodes.entries()) {
      if (isValidAlone(node, visit)) matching.push(index);
      if (matching.length > 1) break;
    }
    const found = matching.length === 0 ? "" : `; it matches those with the indexes ${matching.join(" and ")}`;
    return matching.length === 1 || fails(visit, "oneOf", `must match exactly one schema in oneOf${found}`);
  };
}

function readNot({ value, read }: KeywordReader): Check {
  const node = read(value, [], true);
  return (visit) =>
    !isValid(node, { ...visit, problems: undefined, seen: undefined }) || fails(visit, "not", "must NOT be valid");
}

function readIf({ value, schema, read }: KeywordReader): Check {
  const condition = read(value, [], true);
  const branch = (name: "then" | "else"): SchemaNode | undefined => {
    const found = valueOf(schema, name);
    return found === undefined ? undefined : read(found, ["..", name], true);
  };
  const [then, otherwise] = [branch("then"), branch("else")];
  return (visit) => {
    const isTrue = isValidAlone(condition, visit);
    const node = isTrue ? then : otherwise;
    return (
      node === undefined ||
      isValid(node, visit) ||
      fails(visit, "if", `must match "${isTrue ? "then" : "else"}" schema`)
    );
  };
}

/** `then` and `else` are read with `if`, and do nothing without it. */
function readBranch({ value, schema, read, fail }: KeywordReader): undefined {
  if (valueOf(schema, "if") === undefined) read(value, [], true);
  if (typeof value !== "boolean" && !isObject(value)) fail("must be object,boolean");
  return undefined;
}

function readDependentSchemas(reader: KeywordReader): Check {
  const nodes = Object.entries(readObject(reader)).map(
    ([name, value]) => [name, reader.read(value, [name], true)] as const,
  );
  return (visit) => {
    const { value, work } = visit;
    if (!isObject(value)) return true;
    spend(work, nodes.length);
    return nodes.filter(([name, node]) => Object.hasOwn(value, name) && !isValid(node, visit)).length === 0;
  };
}

function readDependentRequired(reader: KeywordReader): Check {
  const dependencies = Object.entries(readObject(reader)).map(
    ([name, value]) => [name, readTexts(value, reader.fail)] as const,
  );
  return (visit) => {
    const { value, work } = visit;
    if (!isObject(value)) return true;
    let valid = true;
    for (const [name, names] of dependencies) {
      spend(work, 1 + names.length);
      if (!Object.hasOwn(value, name)) continue;
      for (const missing of names.filter((each) => !Object.hasOwn(value, each))) {
        valid = fails(visit, reader.keyword, `must have the property ${show(missing)} when ${show(name)} is present`);
      }
    }
    return valid;
  };
}

/** The keyword of older drafts for both. */
function readDependencies(reader: KeywordReader): Check {
  const entries: [string, JsonValue][] = Object.entries(readObject(reader));
  const isList = ([, value]: [string, JsonValue]): boolean => Array.isArray(value);
  const part = (of: [string, JsonValue][]): KeywordReader => ({ ...reader, value: Object.fromEntries(of) });
  const required = readDependentRequired(part(entries.filter(isList)));
  const schemas = readDependentSchemas(part(entries.filter((entry) => !isList(entry))));
  return (visit) => [required(visit), schemas(visit)].every(Boolean);
}

function readRef(reader: KeywordReader): Check {
  const referred = reader.refer(readText(reader));
  return (visit) => isValid(referred.node(), visit);
}

/** Leads to the outermost resource on the way that has the same dynamic anchor. */
function readDynamicRef(reader: KeywordReader): Check {
  const referred = reader.refer(readText(reader));
  return (visit) => {
    const anchor = referred.anchor();
    let node = referred.node();
    if (anchor !== undefined) {
      for (let scope: Scope | undefined = visit.scope; scope !== undefined; scope = scope.outer) {
        spend(visit.work, 1);
        node = scope.resource.dynamic.get(anchor) ?? node;
      }
    }
    return isValid(node, visit);
  };
}

export const inPlaceKeywords: Keywords = {
  $ref: readRef,
  $dynamicRef: readDynamicRef,
  allOf: readAllOf,
  anyOf: readAnyOf,
  oneOf: readOneOf,
  not: readNot,
  if: readIf,
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema.
  then: readBranch,
  else: readBranch,
  dependentSchemas: readDependentSchemas,
  dependentRequired: readDependentRequired,
  dependencies: readDependencies,
};
