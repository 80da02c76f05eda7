import type { DescMethod } from "@bufbuild/protobuf";
import { findPageFields } from "../calls/list-pages.ts";
import type { HttpRule } from "../routing/http-rules.ts";
import type { PathTemplate } from "../routing/path-template.ts";
import { readConventions } from "../routing/method-conventions.ts";
import { answered, describeAnswer, describeRequestBody } from "./bodies.ts";
import { type DeprecationOf, type Deprecation, deprecationHeaders } from "../deprecation.ts";
import { exampleIn } from "./example-in.ts";
import type { ErrorResponse } from "./error-responses.ts";
import type { Header, Operation, Parameter, Reference, Response } from "./openapi-document.ts";
import { describeQuery } from "./describe-query.ts";
import { type CommentReader, firstSentence } from "./read-comments.ts";
import type { Schemas } from "./schemas/create-schemas.ts";
import { type SystemParameter, systemParametersOf } from "./system-parameters.ts";

export interface OperationContext {
  readonly schemas: Schemas;
  readonly commentOf: CommentReader;
  readonly errors: readonly ErrorResponse[];
  /** Returns text to add below the comment of a method. */
  readonly noteOf: (method: DescMethod) => string;
  readonly deprecationOf: DeprecationOf;
  readonly isPublic: (method: DescMethod) => boolean;
  /** Returns a reference to a parameter, after adding it to the components. */
  readonly referToParameter: (parameter: SystemParameter) => Reference;
}

export function describeOperation(
  method: DescMethod,
  rule: HttpRule,
  template: PathTemplate,
  pathParameters: readonly Parameter[],
  named: { readonly operationId: string; readonly tag: string },
  context: OperationContext,
): Operation {
  const { schemas, commentOf, errors } = context;
  const conventions = readConventions(method, rule, template.verb);
  const pathFields = new Set(template.variables.map(({ fieldPath }) => fieldPath.join(".")));
  const requestBody = describeRequestBody(method, rule, pathFields, context);
  const content = conventions.answersNothing === "always" ? {} : describeAnswer(method, rule, context);
  const isRead = rule.httpMethod === "GET";
  const etagField = conventions.etag ?? conventions.etagCheck?.at(-1);
  const tag = `"${(etagField && exampleIn(commentOf(etagField))) ?? "3f7a"}~${exampleDigest}"`;
  const etag = { ...entityTag, example: tag };
  const system = systemParametersOf(method.input, answered(method, rule, content, schemas));
  const parameters: (Parameter | Reference)[] = [
    ...pathParameters,
    ...describeQuery(method.input, rule.body, pathFields, schemas, commentOf),
    ...(conventions.etagCheck === undefined ? [] : [withExample(ifMatch, tag)]),
    ...(isRead && conventions.etag !== undefined ? [withExample(ifNoneMatch, tag)] : []),
    ...system.map(context.referToParameter),
  ];
  const deprecation = context.deprecationOf(method);
  const lifeHeaders = deprecation === undefined ? {} : describeDeprecationHeaders(deprecation);
  const headers = {
    ...lifeHeaders,
    ...(conventions.etag !== undefined && { ETag: etag }),
    ...(conventions.creates && { Location: location }),
  };
  const success: Response = {
    description: conventions.creates ? "It is created." : describeSuccess(method, rule),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(Object.keys(content).length > 0 && { content }),
  };
  const facts = { rule, conventions, hasPathVariables: pathFields.size > 0, takesBody: requestBody !== undefined };
  const failures = errors.filter((error) => error.appliesTo(facts));
  const comment = commentOf(method);
  return {
    operationId: named.operationId,
    tags: [named.tag],
    summary: firstSentence(comment).replaceAll("`", "") || method.name,
    description: [comment, deprecation && describeDeprecation(deprecation), context.noteOf(method)]
      .filter((text) => text !== undefined && text !== "")
      .join("\n\n"),
    ...((method.deprecated || deprecation !== undefined) && { deprecated: true }),
    ...(deprecation?.sunset !== undefined && { "x-sunset": dayOf(deprecation.sunset) }),
    parameters,
    ...(requestBody !== undefined && { requestBody }),
    responses: {
      ...(conventions.answersNothing !== "always" && { [conventions.creates ? 201 : 200]: success }),
      ...(conventions.answersNothing !== "never" && {
        204: { ...nothing, ...(deprecation !== undefined && { headers: lifeHeaders }) },
      }),
      ...(isRead &&
        conventions.etag !== undefined && { 304: { ...notModified, headers: { ...lifeHeaders, ETag: etag } } }),
      ...Object.fromEntries(failures.map(({ status, name }) => [status, { $ref: `#/components/responses/${name}` }])),
      default: { $ref: "#/components/responses/Failure" },
    },
    ...(context.isPublic(method) && { security: [] as const }),
  };
}

/**
 * Adds an example to the description of a parameter. The field `example` is not used, because tools send it by default and
 * a precondition must not be sent by accident.
 */
function withExample(parameter: Parameter, tag: string): Parameter {
  return { ...parameter, description: `${parameter.description} For example \`${tag}\`.` };
}

const exampleDigest = "gJ7kZ0v4QmXcT2yWb9LrNA";

/** One strong entity tag, or `*`. */
const oneEntityTag = String.raw`^\*$|^"[!#-~]*"$`;

/** A list of entity tags, or `*` (RFC 9110, 13.1). */
const entityTags = String.raw`^\*$|^(W/)?"[!#-~]*"(, ?(W/)?"[!#-~]*")*$`;

const entityTag: Header = {
  description:
    "The entity tag of this answer: the `etag` of the resource, `~` and a digest of the body, which also shows what other resources are called.",
  schema: { type: "string" },
};

/** Lists as lines are no content of their own: generators would make the answer either of both types. */
function describeSuccess(method: DescMethod, rule: HttpRule): string {
  if (findPageFields(method, rule) === undefined) return "Done.";
  return "Done. With `Accept: application/x-ndjson`, the answer is all pages, an item on each line.";
}

const location: Header = {
  description: "The path of what was created.",
  schema: { type: "string", format: "uri-reference" },
};

const nothing: Response = {
  description: "Done. The answer has no body.",
};

const notModified: Response = {
  description: "The answer would be one that `If-None-Match` names.",
};

const ifMatch: Parameter = {
  name: "If-Match",
  in: "header",
  description:
    "The entity tag that the resource must still have, as an answer's `ETag` gave it; only the part before `~` is compared, which is the `etag` of the resource. If it has another one by now, nothing is changed and the answer is 412.",
  schema: { type: "string", pattern: oneEntityTag },
};

const ifNoneMatch: Parameter = {
  name: "If-None-Match",
  in: "header",
  description:
    "Entity tags of answers that the caller has already, as their `ETag` gave them. If the answer would have one of them, it is 304, without a body.",
  schema: { type: "string", pattern: entityTags },
};

/** Returns a paragraph: "**Deprecated** since 2027-03-01; it may be gone from 2027-09-01. ..." */
function describeDeprecation({ since, sunset, replacement, link }: Deprecation): string {
  const end = sunset === undefined ? "." : `; it may be gone from ${dayOf(sunset)}.`;
  const instead = replacement === undefined ? "" : ` Use \`${replacement}\` instead.`;
  const more = link === undefined ? "" : ` [More](${link}).`;
  return `**Deprecated** since ${dayOf(since)}${end}${instead}${more}`;
}

/** `2027-03-01`, in UTC. */
function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

const descriptions: Readonly<Record<string, readonly [name: string, description: string]>> = {
  deprecation: ["Deprecation", "Since when the method is deprecated (RFC 9745), in seconds since 1970."],
  sunset: ["Sunset", "From when the method may be gone (RFC 8594)."],
  link: ["Link", "Where the deprecation is explained."],
};

function describeDeprecationHeaders(deprecation: Deprecation): Readonly<Record<string, Header>> {
  const described = Object.entries(deprecationHeaders(deprecation)).map(([key, example]) => {
    const [name, description] = descriptions[key] ?? [key, ""];
    return [name, { description, schema: { type: "string" }, example }] as const;
  });
  return Object.fromEntries(described);
}
