// Keywords about what is in an array or object.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { canonicalOf } from "../canonical.ts";
import {
  type KeywordReader,
  type Keywords,
  type ReadKeyword,
  isObject,
  readBoolean,
  readCount,
  readObject,
  readTexts,
  show,
  valueOf,
} from "../keyword.ts";
import { type Check, type SchemaNode, type Visit, fails, isValid, isValidChild } from "../node.ts";
import { type Work, spend } from "../work.ts";

const count =
  (word: string, of: "items" | "properties", compare: (count: number, limit: number) => boolean): ReadKeyword =>
  (reader) => {
    const limit = readCount(reader);
    return (visit) => {
      const found = of === "items" ? lengthOf(visit) : sizeOf(visit);
      return (
        found === undefined ||
        compare(found, limit) ||
        fails(visit, reader.keyword, `must NOT have ${word} than ${limit} ${of}`)
      );
    };
  };

const lengthOf = ({ value }: Visit): number | undefined => (Array.isArray(value) ? value.length : undefined);

const sizeOf = ({ value, work }: Visit): number | undefined =>
  isObject(value) ? namesOf(value, work).length : undefined;

/** To list one name takes some steps, also if nothing is done with it. */
const stepsOfName = 4;

function namesOf(object: JsonObject, work: Work): readonly string[] {
  const names = Object.keys(object);
  spend(work, stepsOfName * names.length);
  return names;
}

function readUniqueItems(reader: KeywordReader): Check | undefined {
  if (!readBoolean(reader)) return undefined;
  return (visit) => {
    if (!Array.isArray(visit.value)) return true;
    const first = new Map<string, number>();
    for (const [index, item] of visit.value.entries()) {
      const text = canonicalOf(item, visit.work);
      const same = first.get(text);
      if (same !== undefined) {
        return fails(visit, "uniqueItems", `must NOT have duplicate items (items ${same} and ${index} are identical)`);
      }
      first.set(text, index);
    }
    return true;
  };
}

function checkItems(visit: Visit, from: number, nodeOf: (index: number) => SchemaNode | undefined): boolean {
  if (!Array.isArray(visit.value)) return true;
  let valid = true;
  for (let index = from; index < visit.value.length; index++) {
    const node = nodeOf(index);
    if (node === undefined) break;
    visit.seen?.items.add(index);
    if (isValidChild(node, visit, index, visit.value[index] as JsonValue)) continue;
    valid = false;
    if (visit.problems === undefined) break;
  }
  return valid;
}

function readPrefixItems({ value, read, fail }: KeywordReader): Check {
  if (!Array.isArray(value) || value.length === 0) return fail("must be an array with at least one schema");
  const nodes = value.map((each, index) => read(each, [index]));
  return (visit) => checkItems(visit, 0, (index) => nodes[index]);
}

function readItems({ value, schema, read }: KeywordReader): Check {
  const node = read(value, []);
  const prefix = valueOf(schema, "prefixItems");
  const from = Array.isArray(prefix) ? prefix.length : 0;
  return (visit) => checkItems(visit, from, () => node);
}

function readContains({ value, schema, read }: KeywordReader): Check {
  const node = read(value, []);
  // Both are read, and checked, on their own.
  const [least, most] = [valueOf(schema, "minContains") ?? 1, valueOf(schema, "maxContains")] as [number, number?];
  return (visit) => {
    if (!Array.isArray(visit.value)) return true;
    let found = 0;
    const alone = { ...visit, problems: undefined };
    for (const [index, item] of visit.value.entries()) {
      if (!isValidChild(node, alone, index, item)) continue;
      found++;
      visit.seen?.items.add(index);
    }
    if (found >= least && (most === undefined || found <= most)) return true;
    const atMost = most === undefined ? "" : ` and at most ${most}`;
    return fails(visit, "contains", `must contain at least ${least}${atMost} valid item(s)`);
  };
}

function readRequired({ value, fail }: KeywordReader): Check {
  const names = readTexts(value, fail);
  return (visit) => {
    const { value: object, work } = visit;
    if (!isObject(object)) return true;
    spend(work, names.length);
    const missing = names.filter((name) => !Object.hasOwn(object, name));
    for (const name of missing) fails(visit, "required", `must have required property ${show(name)}`);
    return missing.length === 0;
  };
}

function readProperties(reader: KeywordReader): Check {
  const nodes = Object.entries(readObject(reader)).map(([name, value]) => [name, reader.read(value, [name])] as const);
  return (visit) => {
    const { value, work } = visit;
    if (!isObject(value)) return true;
    spend(work, nodes.length);
    let valid = true;
    for (const [name, node] of nodes) {
      const found = valueOf(value, name);
      if (found === undefined) continue;
      visit.seen?.properties.add(name);
      if (isValidChild(node, visit, name, found)) continue;
      valid = false;
      if (visit.problems === undefined) break;
    }
    return valid;
  };
}

/** Applies schemas to the properties of an object: to each those that are returned for its name. */
function checkProperties(visit: Visit, nodesOf: (name: string) => readonly SchemaNode[]): boolean {
  const { value, work } = visit;
  if (!isObject(value)) return true;
  let valid = true;
  for (const name of namesOf(value, work)) {
    for (const node of nodesOf(name)) {
      visit.seen?.properties.add(name);
      if (!isValidChild(node, visit, name, value[name] as JsonValue)) valid = false;
    }
    if (!valid && visit.problems === undefined) break;
  }
  return valid;
}

function readPatternProperties(reader: KeywordReader): Check {
  const nodes = Object.entries(readObject(reader)).map(
    ([text, value]) => [reader.compile(text), reader.read(value, [text])] as const,
  );
  return (visit) =>
    checkProperties(visit, (name) =>
      nodes.filter(([pattern]) => pattern.test(name, visit.work)).map(([, node]) => node),
    );
}

/** Returns whether `properties` and `patternProperties` of the same schema name a property. */
function readNamed({ schema, compile }: KeywordReader): (name: string, visit: Visit) => boolean {
  const named = valueOf(schema, "properties") ?? {};
  const patterned = valueOf(schema, "patternProperties") ?? {};
  const patterns = isObject(patterned) ? Object.keys(patterned).map(compile) : [];
  return (name, { work }) =>
    (isObject(named) && Object.hasOwn(named, name)) || patterns.some((pattern) => pattern.test(name, work));
}

function readAdditionalProperties(reader: KeywordReader): Check {
  const { value, read } = reader;
  const node = read(value, []);
  const isNamed = readNamed(reader);
  if (value !== false) return (visit) => checkProperties(visit, (name) => (isNamed(name, visit) ? [] : [node]));
  return (visit) => {
    const { value: object, work } = visit;
    if (!isObject(object)) return true;
    let valid = true;
    for (const name of namesOf(object, work)) {
      if (isNamed(name, visit)) continue;
      valid = fails(visit, "additionalProperties", `must NOT have additional properties: ${show(name)}`);
    }
    return valid;
  };
}

function readPropertyNames({ value, read }: KeywordReader): Check {
  const node = read(value, []);
  return (visit) => {
    if (!isObject(visit.value)) return true;
    let valid = true;
    for (const name of namesOf(visit.value, visit.work)) {
      if (isValid(node, { ...visit, value: name, problems: undefined, seen: undefined })) continue;
      valid = fails(visit, "propertyNames", `must NOT have a property with the name ${show(name)}`);
    }
    return valid;
  };
}

function readUnevaluatedProperties({ keyword, value, read }: KeywordReader): Check {
  const node = read(value, []);
  return (visit) => {
    const { value: object, work } = visit;
    if (!isObject(object)) return true;
    let valid = true;
    for (const name of namesOf(object, work)) {
      if (visit.seen?.properties.has(name) === true) continue;
      visit.seen?.properties.add(name);
      if (isValidChild(node, { ...visit, problems: undefined }, name, object[name] as JsonValue)) continue;
      valid = fails(visit, keyword, `must NOT have unevaluated properties: ${show(name)}`);
    }
    return valid;
  };
}

function readUnevaluatedItems({ keyword, value, read }: KeywordReader): Check {
  const node = read(value, []);
  return (visit) => {
    if (!Array.isArray(visit.value)) return true;
    let valid = true;
    for (const [index, item] of visit.value.entries()) {
      spend(visit.work, 1);
      if (visit.seen?.items.has(index) === true) continue;
      visit.seen?.items.add(index);
      if (isValidChild(node, { ...visit, problems: undefined }, index, item)) continue;
      valid = fails(visit, keyword, `must NOT have unevaluated items: the item ${index}`);
    }
    return valid;
  };
}

const isRead: ReadKeyword = (reader) => {
  readCount(reader);
  return undefined;
};

export const contentKeywords: Keywords = {
  maxItems: count("more", "items", (found, most) => found <= most),
  minItems: count("fewer", "items", (found, least) => found >= least),
  uniqueItems: readUniqueItems,
  prefixItems: readPrefixItems,
  items: readItems,
  minContains: isRead,
  maxContains: isRead,
  contains: readContains,
  maxProperties: count("more", "properties", (found, most) => found <= most),
  minProperties: count("fewer", "properties", (found, least) => found >= least),
  required: readRequired,
  properties: readProperties,
  patternProperties: readPatternProperties,
  additionalProperties: readAdditionalProperties,
  propertyNames: readPropertyNames,
};

/** Come last: they are about what no other keyword has looked at. */
export const unevaluatedKeywords: Keywords = {
  unevaluatedItems: readUnevaluatedItems,
  unevaluatedProperties: readUnevaluatedProperties,
};
