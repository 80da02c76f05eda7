import { create, type DescMessage, type JsonValue, type Message } from "@bufbuild/protobuf";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { compileBodyBinding } from "./body-binding.ts";
import type { HttpRule } from "../routing/http-rules.ts";
import { findUpdateMaskField, inferUpdateMask } from "./infer-update-mask.ts";
import { compileSetter } from "./message-access.ts";
import { compilePathBinding, isSameScalar, type PathBinding } from "./path-binding.ts";
import type { PathTemplate } from "../routing/path-template.ts";
import { compileQueryBinding } from "./query-binding.ts";
import { type FieldViolation, invalidFields } from "../errors/rest-error.ts";

export interface BindingOptions {
  readonly ignoreUnknownFields: boolean;
  readonly maxDepth: number;
}

/** What of an HTTP request makes up the message. */
interface RequestParts {
  /** What the path's variables captured, in the template's order. */
  readonly pathValues: readonly string[];
  /** Without its "?"; empty when there is none. */
  readonly query: string;
  readonly body: Buffer | undefined;
  readonly contentType: string | undefined;
}

/** Builds request messages for one rule; all that depends only on the rule is done once, at the start. */
export interface RequestBinding {
  readonly takesBody: boolean;
  /** The body is the bytes of a google.api.HttpBody, not JSON. */
  readonly takesBytes: boolean;
  /** @throws RestError with a violation for each field that does not fit. */
  bind(parts: RequestParts): Message;
}

/** @throws Error that names the rule when it does not fit the message. */
export function compileRequestBinding(
  input: DescMessage,
  rule: HttpRule,
  template: PathTemplate,
  options: BindingOptions,
): RequestBinding {
  const body = compileBodyBinding(input, rule.body, rule.name, options);
  const path = template.variables.map((variable) => compilePathBinding(input, variable, rule.name));
  const queryBinding = compileQueryBinding(input, rule.body, path, options);
  const addMask = rule.httpMethod === "PATCH" ? compileMaskInference(input, rule.body) : undefined;
  return {
    takesBody: body.taken,
    takesBytes: body.isBytes,
    bind(parts) {
      const { message, json } = body.read(parts.body, parts.contentType);
      const violations: FieldViolation[] = [];
      const values = bindPath(message, json, path, parts.pathValues, violations);
      const given = parts.query === "" ? undefined : queryBinding.bind(message, parts.query, values, violations);
      if (violations.length > 0) throw invalidFields(violations);
      if (addMask !== undefined && json !== undefined && !given?.has("update_mask")) addMask(message, json);
      return message;
    },
  };
}

/** Writes the path's values over the body's, which may only repeat them; returns the values. */
function bindPath(
  message: Message,
  json: JsonValue | undefined,
  bindings: readonly PathBinding[],
  texts: readonly string[],
  violations: FieldViolation[],
): unknown[] {
  return bindings.map((binding, index) => {
    const text = texts[index] ?? "";
    const value = binding.parse(text);
    if (value === undefined) {
      violations.push(binding.invalid(text));
      return undefined;
    }
    const other = binding.excludedBy(message);
    if (other !== undefined) {
      violations.push({ field: binding.field, description: `excludes ${other}, which is given too` });
      return undefined;
    }
    if (json !== undefined && binding.isMentioned(json) && !isSameScalar(binding.read(message), value)) {
      violations.push({ field: binding.field, description: "is not the same in the body as in the path" });
    }
    binding.set(message, value);
    return value;
  });
}

/** PATCH with a message as its body: an `update_mask` that is not given is what the body mentions. */
function compileMaskInference(
  input: DescMessage,
  body: string,
): ((message: Message, json: JsonValue) => void) | undefined {
  const mask = findUpdateMaskField(input);
  const field = input.fields.find((candidate) => candidate.name === body);
  if (mask === undefined || field?.fieldKind !== "message") return undefined;
  const set = compileSetter(mask);
  const { message: desc, jsonName } = field;
  return (message, json) => {
    const value = typeof json === "object" && json !== null && !Array.isArray(json) ? json[jsonName] : undefined;
    if (value !== undefined) set(message, create(FieldMaskSchema, { paths: inferUpdateMask(desc, value) }));
  };
}
