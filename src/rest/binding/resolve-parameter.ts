import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { compileSetter } from "./message-access.ts";
import { offerNames } from "../errors/offer-names.ts";
import { compileTextParser, type TextParser } from "./parse-text.ts";

/** Finds the field that a query parameter names. The name is a path of fields, each by its JSON name or proto name. */
type ParameterResolver = (name: string) => ParameterTarget | ParameterRefusal;

export interface ParameterTarget {
  readonly kind: "target";
  readonly field: DescField;
  /** The message fields that lead to the field. */
  readonly parents: readonly DescField[];
  /** The field, as a dotted path of proto names. */
  readonly path: string;
  /** The key of a map entry, as in `labels[key]`. */
  readonly key: string | undefined;
  readonly parse: TextParser;
  readonly set: (message: Message, value: unknown) => void;
}

interface ParameterRefusal {
  readonly kind: "refusal";
  readonly description: string;
  /** Whether the parameter is ignored instead if unknown fields are ignored. */
  readonly passable: boolean;
}

/** A field with its parser and setter. The parser is undefined if the field holds messages that text cannot express. */
interface CompiledField {
  readonly field: DescField;
  readonly parse: TextParser | undefined;
  readonly set: (message: Message, value: unknown) => void;
}

/** @param body the `body` of the rule. Fields in the body are not query parameters. */
export function createParameterResolver(input: DescMessage, body: string, maxDepth: number): ParameterResolver {
  const tables = new Map<DescMessage, ReadonlyMap<string, CompiledField>>();

  function find(desc: DescMessage, name: string): CompiledField | undefined {
    let table = tables.get(desc);
    if (table === undefined) tables.set(desc, (table = compileFields(desc, maxDepth)));
    return table.get(name);
  }

  return (name) => {
    if (body === "*") return refuse("must be given in the body, which is the whole request", true);
    const bracket = name.endsWith("]") ? name.indexOf("[") : -1;
    const key = bracket === -1 ? undefined : name.slice(bracket + 1, -1);
    const names = (bracket === -1 ? name : name.slice(0, bracket)).split(".");
    if (names.length > maxDepth) return refuse(`nests deeper than ${maxDepth} levels`);
    const leafName = names.pop() ?? "";
    const parents: DescField[] = [];
    let desc = input;
    for (const part of names) {
      const parent = find(desc, part);
      if (parent === undefined) return refuseUnknown(desc, parents.length === 0 ? body : "");
      const { field, parse } = parent;
      if (field.fieldKind !== "message" || parse !== undefined) {
        return refuse(`is not a parameter: ${field.name} has no fields that a parameter could name`);
      }
      parents.push(field);
      desc = field.message;
    }
    const leaf = find(desc, leafName);
    if (leaf === undefined) return refuseUnknown(desc, parents.length === 0 ? body : "");
    const path = [...parents, leaf.field].map((field) => field.name).join(".");
    if (path === body || path.startsWith(`${body}.`))
      return refuse(`must be given in the body, which is ${body}`, true);
    return checkLeaf(leaf, parents, path, key);
  };
}

function checkLeaf(
  { field, parse, set }: CompiledField,
  parents: readonly DescField[],
  path: string,
  key: string | undefined,
): ParameterTarget | ParameterRefusal {
  if (parse === undefined) {
    return field.fieldKind === "message"
      ? refuse(`is a message: give its fields, such as ${path}.${field.message.fields[0]?.name ?? "field"}`)
      : refuse("is not a parameter: it holds messages");
  }
  if (field.fieldKind === "map" && key === undefined)
    return refuse(`is a map: give its entries, as ${path}[key]=value`);
  if (field.fieldKind !== "map" && key !== undefined) return refuse("is not a map");
  return { kind: "target", field, parents, path, key, parse, set };
}

/** @param body the field that the rule binds to the body, which is not a parameter; empty for none. */
function refuseUnknown(desc: DescMessage, body: string): ParameterRefusal {
  const names = desc.fields.map((field) => field.name).filter((name) => name !== body);
  const offered = offerNames(names);
  return refuse(`is not a parameter: ${desc.typeName} has no such field; its fields are ${offered}`, true);
}

function refuse(description: string, passable = false): ParameterRefusal {
  return { kind: "refusal", description, passable };
}

/**
 * Compiles the fields of a message, by proto name and JSON name. If the JSON name of one field is the proto name of another,
 * the JSON name takes precedence, because JSON clients mean that field.
 */
function compileFields(desc: DescMessage, maxDepth: number): ReadonlyMap<string, CompiledField> {
  const fields = desc.fields.map((field) => ({
    field,
    parse: compileTextParser(field, maxDepth),
    set: compileSetter(field),
  }));
  return new Map([
    ...fields.map((compiled) => [compiled.field.name, compiled] as const),
    ...fields.map((compiled) => [compiled.field.jsonName, compiled] as const),
  ]);
}
