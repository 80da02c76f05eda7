import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { createParameterResolver } from "../binding/resolve-parameter.ts";
import { exampleIn } from "./example-in.ts";
import { isOutputOnly, isRequired } from "./field-behavior.ts";
import type { Parameter } from "./openapi-document.ts";
import type { CommentReader } from "./read-comments.ts";
import { parseExample } from "./schemas/parse-example.ts";
import { type Schemas, input } from "./schemas/create-schemas.ts";

/** The maximum nesting depth of the parameters that are described. The transcoder accepts deeper ones. */
const maxDepth = 5;

/**
 * Describes the query parameters of a rule: the fields, including nested ones, that are neither in the path nor in the body
 * and that a caller may set.
 *
 * @param body the `body` of the rule.
 * @param pathFields the fields in the path, as dotted paths.
 */
export function describeQuery(
  request: DescMessage,
  body: string,
  pathFields: ReadonlySet<string>,
  schemas: Schemas,
  commentOf: CommentReader,
): Parameter[] {
  const resolve = createParameterResolver(request, body, maxDepth);

  function walk(desc: DescMessage, prefix: string, holders: readonly DescMessage[]): Parameter[] {
    if (holders.includes(desc) || holders.length === maxDepth) return [];
    return desc.fields.flatMap((field) => {
      const name = prefix + field.name;
      if (isOutputOnly(field) || pathFields.has(name)) return [];
      const target = resolve(field.fieldKind === "map" ? `${name}[key]` : name);
      if (target.kind === "target") return [describeParameter(name, field, schemas, commentOf, prefix === "")];
      const isGiven = name === body || body === "*";
      const inner = field.fieldKind === "message" && !isGiven ? field.message : undefined;
      return inner === undefined ? [] : walk(inner, `${name}.`, [...holders, desc]);
    });
  }

  return walk(request, "", []);
}

function describeParameter(
  name: string,
  field: DescField,
  schemas: Schemas,
  commentOf: CommentReader,
  isTop: boolean,
): Parameter {
  const { description, examples: _examples, deprecated: _deprecated, ...schema } = schemas.ofField(field, input);
  const isNeeded = isTop && isRequired(field);
  // Tools send the example of a parameter by default, so optional parameters have none.
  const example = isNeeded ? parseExample(field, exampleIn(commentOf(field))) : undefined;
  return {
    name,
    in: "query",
    description: description ?? `\`${name}\` of the request.`,
    ...(isNeeded && { required: true }),
    ...(field.deprecated && { deprecated: true }),
    ...(field.fieldKind === "list" && { style: "form", explode: true }),
    ...(field.fieldKind === "map" && { style: "deepObject", explode: true }),
    ...(isJsonText(field)
      ? { content: { "application/json": { schema, ...(example !== undefined && { example }) } } }
      : { schema, ...(example !== undefined && { example }) }),
  };
}

function isJsonText(field: DescField): boolean {
  const inJson = ["google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue"];
  return field.fieldKind === "message" && inJson.includes(field.message.typeName);
}
