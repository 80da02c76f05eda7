import { create, type DescMessage, type JsonValue, type Message, type Registry } from "@bufbuild/protobuf";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { compileBodyBinding } from "./body-binding.ts";
import type { HttpRule } from "../routing/http-rules.ts";
import { findUpdateMaskField, inferUpdateMask } from "./infer-update-mask.ts";
import { compileSetter } from "./message-access.ts";
import { compilePathBinding, isSameScalar, type PathBinding } from "./path-binding.ts";
import type { ItemLimitOf } from "../limits/item-limit.ts";
import type { PathTemplate } from "../routing/path-template.ts";
import { compileQueryBinding } from "./query-binding.ts";
import { type FieldViolation, invalidFields } from "../errors/rest-error.ts";

export interface BindingOptions {
  readonly ignoreUnknownFields: boolean;
  readonly maxDepth: number;
  /** Resolves the types of google.protobuf.Any. */
  readonly registry?: Registry | undefined;
  /** Limits the lists and maps of long bodies. */
  readonly itemLimitOf?: ItemLimitOf | undefined;
}

interface RequestParts {
  /** The values that the path variables captured, in the order of the template. */
  readonly pathValues: readonly string[];
  /** The query without its "?"; empty if there is none. */
  readonly query: string;
  readonly body: Buffer | undefined;
  readonly contentType: string | undefined;
}

/** Builds the request messages of one rule. Everything that depends only on the rule is compiled in advance. */
export interface RequestBinding {
  /** The field of the message that is the body; `*` for all, empty for none. */
  readonly body: string;
  readonly takesBody: boolean;
  /** Whether the body is the bytes of a google.api.HttpBody rather than JSON. */
  readonly takesBytes: boolean;
  /**
   * @throws RestError FIELD_INVALID with a violation for each invalid field; URL_MALFORMED, BODY_MALFORMED or
   *   CONTENT_TYPE_UNSUPPORTED
   */
  bind(parts: RequestParts): Message;
}

/** @throws Error that names the rule if the rule does not match the message. */
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
    body: rule.body,
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

/**
 * Writes the values of the path variables into the message. Adds a violation for each value that is invalid or that
 * contradicts the body.
 *
 * @returns the values, in the order of the bindings; undefined for an invalid one.
 */
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
      violations.push({ field: binding.field, description: `cannot be set together with ${other}` });
      return undefined;
    }
    if (json !== undefined && binding.isMentioned(json) && !isSameScalar(binding.read(message), value)) {
      violations.push({ field: binding.field, description: "must have the same value in the body as in the path" });
    }
    binding.set(message, value);
    return value;
  });
}

/**
 * Compiles a function that sets the `update_mask` of a PATCH from the fields in its body.
 *
 * @returns undefined if the request message has no `update_mask`, or if its body is not a message field.
 */
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
