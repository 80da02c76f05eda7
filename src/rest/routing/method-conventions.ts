import { type DescField, type DescMessage, type DescMethod, ScalarType } from "@bufbuild/protobuf";
import { HttpBodySchema } from "../../../gen/google/api/httpbody_pb.ts";
import type { HttpRule } from "./http-rules.ts";

/** How a method maps to HTTP apart from its messages, derived from the names and types that the AIPs define. */
export interface MethodConventions {
  /** Whether the rule is for GET, which is safe (RFC 9110, 9.2.1). */
  readonly reads: boolean;
  /** Whether the response is 201 with `Location`: a POST without a verb to a unary method named Create... (AIP-133). */
  readonly creates: boolean;
  /**
   * When the response is 204: always for google.protobuf.Empty. For a method named Delete... or BatchDelete... that returns
   * another message, when that message is empty; for a google.api.HttpBody that has neither a type nor data.
   */
  readonly answersNothing: "always" | "when empty" | "never";
  /** The response field that is sent as `ETag` (AIP-154). */
  readonly etag: DescField | undefined;
  /** The path to the request field that receives the etag of `If-Match`: a field of the request or of its body resource. */
  readonly etagCheck: readonly DescField[] | undefined;
  /** The request field that lets a method named Update... create what is missing (AIP-134). */
  readonly allowMissing: DescField | undefined;
}

/** @param verb the verb of the path template; empty if there is none. */
export function readConventions(method: DescMethod, rule: HttpRule, verb: string): MethodConventions {
  const { input, output, methodKind } = method;
  const isUnary = methodKind === "unary";
  const answersNothing = isUnary ? whenNothing(method) : "never";
  const creates =
    isUnary &&
    answersNothing !== "always" &&
    rule.httpMethod === "POST" &&
    verb === "" &&
    /^Create[A-Z]/.test(method.name);
  return {
    reads: rule.httpMethod === "GET",
    creates,
    answersNothing,
    etag: isUnary && rule.responseBody === "" ? etagOf(output) : undefined,
    etagCheck: isUnary && !creates && rule.httpMethod !== "GET" ? findEtagCheck(input, rule.body) : undefined,
    allowMissing: /^Update[A-Z]/.test(method.name)
      ? input.fields.find(({ name, scalar }) => name === "allow_missing" && scalar === ScalarType.BOOL)
      : undefined,
  };
}

function whenNothing({ name, output }: DescMethod): MethodConventions["answersNothing"] {
  if (output.typeName === "google.protobuf.Empty") return "always";
  if (output.typeName === HttpBodySchema.typeName) return "when empty";
  // A message with scalars or lists, such as a resource or a list of resources, does not count as empty.
  const holdsMessagesOnly = output.fields.length > 0 && output.fields.every(({ fieldKind }) => fieldKind === "message");
  return /^(Batch)?Delete[A-Z]/.test(name) && holdsMessagesOnly ? "when empty" : "never";
}

function findEtagCheck(input: DescMessage, body: string): DescField[] | undefined {
  const own = etagOf(input);
  if (own !== undefined) return [own];
  const resource = input.fields.find((field) => field.name === body);
  const inBody = resource?.fieldKind === "message" ? etagOf(resource.message) : undefined;
  return resource === undefined || inBody === undefined ? undefined : [resource, inBody];
}

function etagOf(desc: DescMessage): DescField | undefined {
  const field = desc.fields.find((candidate) => candidate.name === "etag");
  return field?.fieldKind === "scalar" && field.scalar === ScalarType.STRING ? field : undefined;
}
