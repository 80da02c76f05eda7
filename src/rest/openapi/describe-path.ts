import { type DescField, type DescMessage, getOption } from "@bufbuild/protobuf";
import { resource_reference } from "../../../gen/google/api/resource_pb.ts";
import type { PathSegment, PathTemplate, PathVariable } from "../routing/path-template.ts";
import { exampleIn } from "./example-in.ts";
import type { Parameter, Schema } from "./openapi-document.ts";
import type { PathPatterns } from "./path-patterns.ts";
import type { CommentReader } from "./read-comments.ts";

/** A path in OpenAPI, with one parameter for each wildcard of the template. */
export interface TemplatedPath {
  readonly path: string;
  /** The path without the names of its parameters. It is unique among the operations with one HTTP method. */
  readonly shape: string;
  readonly parameters: readonly Parameter[];
}

interface TemplatedPathOptions {
  readonly commentOf: CommentReader;
  /** The patterns of each `google.api.resource` type. */
  readonly patterns: ReadonlyMap<string, readonly string[]>;
  readonly pathPatterns: PathPatterns;
  /** Whether the method only reads, so that its path may have wildcards for parents. */
  readonly reads: boolean;
  readonly schemaOf: (field: DescField) => Schema;
  /** A note on the accepted values, added to the parameters that are ids of resources. */
  readonly resourceIdNote: string | undefined;
}

/**
 * A wildcard of the template: the variable that captures it, the name of its parameter, and the resource pattern that the
 * name comes from. The variable is undefined for a wildcard outside of variables.
 */
interface Wildcard {
  readonly variable: PathVariable | undefined;
  readonly name: string;
  readonly pattern: string | undefined;
  /** The start of that pattern, up to the wildcard. */
  readonly start: string | undefined;
}

/**
 * Converts a path template to a path of OpenAPI. The wildcards of a variable are named after the pattern of the resource that
 * its field refers to: for a Member, `{path=orgs/*\/members/*}` becomes `orgs/{org}/members/{member}`. If there is no such
 * pattern, the wildcard of a variable of one segment has the name of the field, and the wildcards of other variables are
 * numbered, `{path_1}`.
 *
 * @param known the parameter names of earlier paths, by shape. Paths with the same shape share one path item.
 */
export function describePath(
  template: PathTemplate,
  input: DescMessage,
  options: TemplatedPathOptions,
  known: ReadonlyMap<string, readonly string[]>,
): TemplatedPath & { readonly names: readonly string[] } {
  const shape = writePath(template, () => "");
  const wildcards = nameWildcards(template, input, options.patterns);
  const names = known.get(shape) ?? unique(wildcards.map(({ name }) => name));
  const parameters = wildcards.map((wildcard, index) =>
    describeParameter(wildcard, names[index] ?? "", index, template, input, wildcards, options),
  );
  return { path: writePath(template, (index) => names[index] ?? ""), shape, parameters, names };
}

function writePath({ segments, verb }: PathTemplate, nameOf: (index: number) => string): string {
  let index = 0;
  const written = segments.map((segment) =>
    segment.kind === "literal" ? encode(segment.value) : `{${nameOf(index++)}}`,
  );
  return `/${written.join("/")}${verb === "" ? "" : `:${encode(verb)}`}`;
}

/** Percent-encodes a literal, except for the characters that are allowed in a path (RFC 3986, 3.3). */
function encode(literal: string): string {
  return encodeURIComponent(literal).replace(/%(21|24|26|27|28|29|2A|2B|2C|3A|3B|3D|40)/g, decodeURIComponent);
}

function nameWildcards(
  { segments, variables }: PathTemplate,
  input: DescMessage,
  patterns: ReadonlyMap<string, readonly string[]>,
): Wildcard[] {
  return segments.flatMap((segment, at): Wildcard[] => {
    if (segment.kind === "literal") return [];
    const variable = variables.find(({ start, end }) => start <= at && at < end);
    if (variable === undefined) return [{ variable, name: "wildcard", pattern: undefined, start: undefined }];
    const captured = segments.slice(variable.start, variable.end);
    const pattern = findPattern(captured, resolveFields(input, variable.fieldPath).at(-1), patterns);
    const ordinal = segments.slice(variable.start, at).filter(({ kind }) => kind !== "literal").length;
    const fieldName = variable.fieldPath.join(".");
    const fallback = captured.length === 1 ? fieldName : `${fieldName}_${ordinal + 1}`;
    const inPattern = pattern?.[at - variable.start]?.slice(1, -1).replace(/=.*/, "");
    const start = pattern?.slice(0, at - variable.start + 1).join("/");
    return [{ variable, name: inPattern ?? fallback, pattern: pattern?.join("/"), start }];
  });
}

/**
 * Finds the pattern of the resource that a field refers to. If the field refers to a parent by its child type, returns the
 * part of the child's pattern that the variable captures.
 */
function findPattern(
  captured: readonly PathSegment[],
  field: DescField | undefined,
  patterns: ReadonlyMap<string, readonly string[]>,
): readonly string[] | undefined {
  if (field === undefined) return undefined;
  const { type, childType } = getOption(field, resource_reference);
  const candidates =
    type === "*" || childType === "*" ? [...patterns.values()].flat() : (patterns.get(type || childType) ?? []);
  return candidates
    .map((pattern) => pattern.split("/"))
    .filter((pattern) => (childType === "" ? pattern.length === captured.length : pattern.length > captured.length))
    .map((pattern) => pattern.slice(0, captured.length))
    .find((pattern) =>
      pattern.every((part, index) => {
        const segment = captured[index];
        return segment?.kind === "literal" ? segment.value === part : segment?.kind === "*" && part.startsWith("{");
      }),
    );
}

function describeParameter(
  { variable, pattern, start }: Wildcard,
  name: string,
  index: number,
  { segments }: PathTemplate,
  input: DescMessage,
  wildcards: readonly Wildcard[],
  { commentOf, schemaOf, pathPatterns, reads, resourceIdNote }: TemplatedPathOptions,
): Parameter {
  const field = variable && resolveFields(input, variable.fieldPath).at(-1);
  const kinds = segments.filter(({ kind }) => kind !== "literal");
  const takesMany = kinds[index]?.kind === "**";
  const isLast = wildcards[index + 1]?.variable !== variable || variable === undefined;
  const comment = field === undefined ? "" : commentOf(field);
  const notes = [
    pattern === undefined ? "" : `The \`{${name}}\` of \`${pattern}\`. ${resourceIdNote ?? ""}`.trim(),
    takesMany ? "Takes one or more segments: slashes in it are not encoded." : "",
    isLast && variable !== undefined && comment !== ""
      ? `${variable.single ? "" : `\`${variable.fieldPath.join(".")}\`: `}${comment}`
      : "",
  ];
  const example = variable && exampleOfWildcard(variable, segments, index, exampleIn(comment));
  const schema = variable?.single === true && field !== undefined ? schemaOf(field) : { type: "string" };
  const { description: _inSchema, examples: _examplesInSchema, ...ofField } = schema as Record<string, unknown>;
  const isOwn = isLast && field !== undefined && getOption(field, resource_reference).type !== "";
  const takesAny = reads && !isOwn;
  const plain: Schema = start === undefined ? ofField : { ...ofField, ...pathPatterns.ofVariable(start, takesAny) };
  return {
    name,
    in: "path",
    required: true,
    description: notes.filter((note) => note !== "").join("\n\n") || `The \`${name}\` in the path.`,
    schema: plain.type === "string" && !("enum" in plain) && !takesMany ? { minLength: 1, ...plain } : plain,
    ...(example !== undefined && { example }),
  };
}

/** Extracts the example of one wildcard from an example of the whole variable, such as `orgs/acme/members/alice`. */
function exampleOfWildcard(
  variable: PathVariable,
  segments: readonly PathSegment[],
  index: number,
  example: string | undefined,
): string | undefined {
  const captured = segments.slice(variable.start, variable.end);
  const before = segments.slice(0, variable.start).filter(({ kind }) => kind !== "literal").length;
  const parts = example?.replace(/^\//, "").split("/") ?? [];
  const many = captured.findIndex(({ kind }) => kind === "**");
  if (many === -1 && parts.length !== captured.length) return undefined;
  const taken = captured.flatMap((segment, at) => {
    if (segment.kind === "literal") return [];
    return [segment.kind === "**" ? parts.slice(at, parts.length - (captured.length - at - 1)).join("/") : parts[at]];
  });
  return taken[index - before] || undefined;
}

/** Makes names unique by adding a number to repeated ones. */
function unique(names: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return names.map((name) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name}_${count}`;
  });
}

/** Returns the fields on a path of proto names; the last one is the field that the path names. @throws Error if a field does not exist. */
function resolveFields(desc: DescMessage, names: readonly string[]): DescField[] {
  let holder: DescMessage | undefined = desc;
  return names.map((name) => {
    const field: DescField | undefined = holder?.fields.find((candidate) => candidate.name === name);
    if (field === undefined) throw new Error(`${desc.typeName} has no field ${names.join(".")}`);
    holder = field.fieldKind === "message" ? field.message : undefined;
    return field;
  });
}
