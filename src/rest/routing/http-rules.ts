import { type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { http } from "../../../gen/google/api/annotations_pb.ts";
import type { HttpRule as HttpRuleMessage } from "../../../gen/google/api/http_pb.ts";

/** One way to call a method over HTTP, as google.api.http declares it. */
export interface HttpRule {
  /** `*` for any. */
  readonly httpMethod: string;
  readonly path: string;
  readonly body: string;
  readonly responseBody: string;
  /** Names the rule in errors: the RPC and what it binds. */
  readonly name: string;
}

/**
 * The rules of a method, the one from the annotation first; none when it has no annotation.
 *
 * @throws Error when a rule has no pattern, or one of `additional_bindings` has some itself.
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

/** `package.Service/Method`. */
export function nameOf(method: DescMethod): string {
  return `${method.parent.typeName}/${method.name}`;
}

function readRule(method: DescMethod, { pattern, body, responseBody }: HttpRuleMessage): HttpRule {
  if (pattern.case === undefined) throw new Error(`${nameOf(method)}: an http rule without a pattern`);
  const httpMethod = pattern.case === "custom" ? pattern.value.kind : pattern.case.toUpperCase();
  const path = pattern.case === "custom" ? pattern.value.path : pattern.value;
  if (httpMethod === "") throw new Error(`${nameOf(method)}: a custom pattern for ${path} without a kind`);
  return { httpMethod, path, body, responseBody, name: `${nameOf(method)} (${httpMethod} ${path})` };
}
