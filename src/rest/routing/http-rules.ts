import { type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { http } from "../../../gen/google/api/annotations_pb.ts";
import type { HttpRule as HttpRuleMessage } from "../../../gen/google/api/http_pb.ts";

/** One binding of a method to HTTP, as declared by google.api.http. */
export interface HttpRule {
  /** The HTTP method; `*` for any. */
  readonly httpMethod: string;
  readonly path: string;
  readonly body: string;
  readonly responseBody: string;
  /** The name of the rule in errors: the RPC, the HTTP method and the path. */
  readonly name: string;
}

/** RFC 9110, 5.6.2: what HTTP methods consist of. CONNECT has a host instead of a path. */
const token = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * Returns the rules of a method: the annotation itself, followed by its `additional_bindings`. Returns none if the method
 * has no annotation.
 *
 * @throws Error if a rule has no pattern, if one of the `additional_bindings` has `additional_bindings` itself, or if the kind of a custom
 *   pattern is no HTTP method of a request with a path.
 */
export function readHttpRules(method: DescMethod): HttpRule[] {
  if (!hasOption(method, http)) return [];
  const rule = getOption(method, http);
  for (const additional of rule.additionalBindings) {
    if (additional.additionalBindings.length > 0) {
      throw new Error(`${nameOf(method)}: additional_bindings cannot hold additional_bindings`);
    }
  }
  return [rule, ...rule.additionalBindings].map((each) => readRule(method, each));
}

/** Returns the name of a method as `package.Service/Method`. */
export function nameOf(method: DescMethod): string {
  return `${method.parent.typeName}/${method.name}`;
}

function readRule(method: DescMethod, { pattern, body, responseBody }: HttpRuleMessage): HttpRule {
  if (pattern.case === undefined) throw new Error(`${nameOf(method)}: an http rule without a pattern`);
  const httpMethod = pattern.case === "custom" ? pattern.value.kind : pattern.case.toUpperCase();
  const path = pattern.case === "custom" ? pattern.value.path : pattern.value;
  if (httpMethod === "") throw new Error(`${nameOf(method)}: a custom pattern for ${path} without a kind`);
  if (httpMethod === "CONNECT" || !token.test(httpMethod)) {
    throw new Error(`${nameOf(method)}: no request for ${path} can have the HTTP method ${JSON.stringify(httpMethod)}`);
  }
  return { httpMethod, path, body, responseBody, name: `${nameOf(method)} (${httpMethod} ${path})` };
}
