// JSON Schemas, draft 2020-12: https://json-schema.org/draft/2020-12. A schema is read once and checked whole: unknown keywords,
// references that lead nowhere, and patterns that cannot be run are errors. To apply it takes steps that are counted, whatever the
// schema and the value are.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type Keywords, type Referred, isObject } from "./keyword.ts";
import { annotationKeywords } from "./keywords/annotations.ts";
import { contentKeywords, unevaluatedKeywords } from "./keywords/contents.ts";
import { inPlaceKeywords } from "./keywords/in-place.ts";
import { valueKeywords } from "./keywords/values.ts";
import { type Check, type Problem, type SchemaNode, fails, isValid } from "./node.ts";
import { type Pattern, compilePattern } from "./patterns/pattern.ts";
import { checkInPlace } from "./check-in-place.ts";
import { type FoundResource, createReferences } from "./references.ts";
import { SchemaError } from "./schema-error.ts";
import { type Work, spend, stepsOfText } from "./work.ts";

const keywords: Keywords = {
  ...annotationKeywords,
  ...valueKeywords,
  ...contentKeywords,
  ...inPlaceKeywords,
  ...unevaluatedKeywords,
};

const order = new Map(Object.keys(keywords).map((keyword, index) => [keyword, index]));

const orderOf = (keyword: string): number => order.get(keyword) ?? 0;

const maxDepth = 64;
const maxParts = 4_096;

export interface Schema {
  /**
   * Returns what is wrong with a value.
   *
   * @param maxProblems how many are returned at most.
   * @throws WorkExceeded
   */
  readonly validate: (value: JsonValue, work: Work, maxProblems: number) => readonly Problem[];
}

interface Draft extends SchemaNode {
  readonly checks: Check[];
  readonly inPlace: SchemaNode[];
}

interface Position {
  readonly resource: FoundResource;
  /** A JSON pointer from the root of its resource. */
  readonly pointer: string;
  /** From the root of all: `#/properties/zone`. */
  readonly location: string;
  readonly depth: number;
}

/**
 * @param work a step for each keyword, for each part of a pattern as often as it may be repeated, and some for long names.
 * @throws SchemaError that names the place and what would be accepted; WorkExceeded.
 */
export function parseSchema(json: JsonValue, work: Work): Schema {
  const reader = createReader(work);
  const root = reader.read(json);
  return {
    validate(value, left, maxProblems) {
      const problems = { list: [], max: maxProblems };
      const scope = { resource: root.resource, outer: undefined };
      isValid(root, { value, place: undefined, work: left, problems, seen: undefined, scope });
      return problems.list;
    },
  };
}

function createReader(work: Work) {
  const references = createReferences(work);
  /** By their texts: `patternProperties` and `additionalProperties` share them. */
  const patterns = new Map<string, Pattern>();
  const nodes: SchemaNode[] = [];
  let parts = 0;

  const compile = (text: string, location: string): Pattern => {
    const pattern = patterns.get(text) ?? compilePattern(text, location, work);
    patterns.set(text, pattern);
    return pattern;
  };

  const readNode = (json: JsonValue, at: Position): SchemaNode => {
    const known = at.resource.nodes.get(at.pointer);
    if (known !== undefined) return known;
    if (at.depth > maxDepth) throw new SchemaError(at.location, `is more than ${maxDepth} levels deep`);
    const count = 1 + (isObject(json) ? Object.keys(json).length : 0);
    spend(work, count + stepsOfText(at.pointer));
    parts += count;
    if (parts > maxParts) throw new SchemaError("#", `has more than ${maxParts} schemas and keywords`);
    if (typeof json === "boolean") return readBooleanNode(json, at);
    if (!isObject(json)) throw new SchemaError(at.location, "must be object,boolean");
    const inner = references.enter(json, at.resource, at.location);
    const resource = inner ?? at.resource;
    const collects = Object.keys(unevaluatedKeywords).some((keyword) => Object.hasOwn(json, keyword));
    const node = add({ location: at.location, resource, checks: [], collects, inPlace: [] }, at);
    if (inner !== undefined) inner.nodes.set("", node);
    references.name(json, resource, node);
    readKeywords(json, node, inner === undefined ? at : { ...at, resource: inner, pointer: "" });
    return node;
  };

  const add = (node: Draft, { resource, pointer }: Position): Draft => {
    resource.nodes.set(pointer, node);
    nodes.push(node);
    return node;
  };

  const readBooleanNode = (json: boolean, at: Position): SchemaNode => {
    const never: Check = (visit) => fails(visit, "false schema", "must not be there");
    const { location, resource } = at;
    return add({ location, resource, checks: json ? [] : [never], collects: false, inPlace: [] }, at);
  };

  const readKeywords = (schema: JsonObject, node: Draft, at: Position): void => {
    const names = Object.keys(schema);
    const unknown = names.find((name) => !Object.hasOwn(keywords, name));
    if (unknown !== undefined) throw new SchemaError(at.location, `unknown keyword ${JSON.stringify(unknown)}`);
    for (const keyword of names.toSorted((one, other) => orderOf(one) - orderOf(other))) {
      const value = schema[keyword] as JsonValue;
      const check = keywords[keyword]?.({
        keyword,
        value,
        schema,
        compile: (text) => compile(text, `${at.location}/${keyword}`),
        fail: (problem) => {
          throw new SchemaError(`${at.location}/${keyword}`, problem);
        },
        refer: (reference) => refer(node, reference, `${at.location}/${keyword}`),
        read(each, path, inPlace = false) {
          const steps = path[0] === ".." ? path.slice(1) : [keyword, ...path];
          const found = readNode(each, below(at, steps));
          if (inPlace) node.inPlace.push(found);
          return found;
        },
      });
      if (check !== undefined) node.checks.push(check);
    }
  };

  const refer = (node: Draft, reference: string, location: string): Referred => {
    const referred = references.add(node.resource as FoundResource, reference, location);
    references.afterwards(() => node.inPlace.push(referred.node()));
    return referred;
  };

  return {
    read(json: JsonValue): SchemaNode {
      const root = readNode(json, { resource: references.root, pointer: "", location: "#", depth: 0 });
      references.resolve();
      checkInPlace(nodes);
      return root;
    },
  };
}

function below(at: Position, steps: readonly (string | number)[]): Position {
  const path = steps.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  return { ...at, pointer: at.pointer + path, location: at.location + path, depth: at.depth + 1 };
}
