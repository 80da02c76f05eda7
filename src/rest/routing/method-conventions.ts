import type { DescField, DescMessage, DescMethod } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import type { HttpRule } from "./http-rules.ts";

/** What HTTP makes of a method beside its message, read from names and types that the AIPs fix. */
export interface MethodConventions {
  /** Safe: the rule is for GET (RFC 9110, 9.2.1). */
  readonly reads: boolean;
  /** Answered with 201 and `Location`: a POST without a verb to a method that is called Create... (AIP-133). */
  readonly creates: boolean;
  /**
   * When it is answered with 204: always for google.protobuf.Empty, and for an empty answer of a method that is called
   * Delete... or BatchDelete... and may have something to tell all the same.
   */
  readonly answersNothing: "always" | "when empty" | "never";
  /** The field of the response that is its `ETag` (AIP-154). */
  readonly etag: DescField | undefined;
  /** Where the request takes the etag that `If-Match` gives: its own field, or one of the resource that is its body. */
  readonly etagCheck: readonly DescField[] | undefined;
}

/** @param verb of the rule's template; empty when there is none. */
export function readConventions(method: DescMethod, rule: HttpRule, verb: string): MethodConventions {
  const { input, output, methodKind } = method;
  const isUnary = methodKind === "unary";
  const answersNothing = isUnary ? whenNothing(method) : "never";
  const creates =
    isUnary &&
    answersNothing === "never" &&
    rule.httpMethod === "POST" &&
    verb === "" &&
    /^Create[A-Z]/.test(method.name);
  return {
    reads: rule.httpMethod === "GET",
    creates,
    answersNothing,
    etag: isUnary && rule.responseBody === "" ? etagOf(output) : undefined,
    etagCheck: isUnary && !creates && rule.httpMethod !== "GET" ? findEtagCheck(input, rule.body) : undefined,
  };
}

function whenNothing({ name, output }: DescMethod): MethodConventions["answersNothing"] {
  if (output.typeName === "google.protobuf.Empty") return "always";
  // A resource or a list of them is there, be it empty.
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
