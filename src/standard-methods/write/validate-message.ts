import {
  type DescField,
  type DescMessage,
  type Message,
  type MessageShape,
  createRegistry,
  isFieldSet,
} from "@bufbuild/protobuf";
import { pathToString } from "@bufbuild/protobuf/reflect";
import { createValidator } from "@bufbuild/protovalidate";
import { file_iam_v1alpha_constraints } from "../../../gen/iam/v1alpha/constraints_pb.ts";
import { type FieldViolation, invalidFields } from "../../errors/service-error.ts";
import { obviouslyKeepsConstraints } from "./accept-message.ts";
import { isRequired } from "./field-behavior.ts";
import { valueOf } from "./value-of.ts";

const validator = createValidator({ registry: createRegistry(file_iam_v1alpha_constraints), regexMatch });

/** Compiled expressions by pattern. The constraints have few patterns. */
const expressions = new Map<string, RegExp>();

/**
 * Matches a pattern. The library's own matcher is RE2 in JavaScript and would double the time to validate a message. RE2
 * guarantees linear time; the patterns of our constraints are linear with RegExp too, mean the same in both, and are the only
 * ones used here.
 */
function regexMatch(pattern: string, text: string): boolean {
  let expression = expressions.get(pattern);
  if (expression === undefined) {
    expression = new RegExp(pattern, "u");
    expressions.set(pattern, expression);
  }
  return expression.test(text);
}

/** The maximum number of violations in an error, so that it fits into the trailers of a gRPC response. */
export const maxViolations = 100;

/**
 * Checks a message and the messages in it against their `buf.validate` constraints and REQUIRED fields. The resource in a
 * message with an `update_mask` may be partial; it is validated after the merge.
 *
 * @param prefix for the field names in errors: `member.`.
 * @throws ServiceError FIELD_INVALID with the violations, at most `maxViolations`.
 */
export function validateMessage<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
  prefix = "",
): void {
  const violations = [...missingFields(schema, message, prefix), ...brokenConstraints(schema, message, prefix)];
  if (violations.length > 0) throw invalidFields(violations.slice(0, maxViolations));
}

/** Returns the violations of the `buf.validate` constraints of a message and the messages in it. */
export function brokenConstraints<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
  prefix = "",
): FieldViolation[] {
  if (obviouslyKeepsConstraints(schema, message)) return [];
  const result = validator.validate(schema, message);
  switch (result.kind) {
    case "valid":
      return [];
    case "invalid":
      return result.violations.map((violation) => ({
        field: prefix + pathToString(violation.field),
        description: violation.message,
        rule: violation.ruleId,
      }));
    case "error":
      throw result.error;
  }
}

/**
 * Returns the violations of REQUIRED.
 *
 * @param outer the message whose list contains this one. A field that `outer` has too may be unset in the item.
 */
function missingFields<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
  prefix: string,
  outer?: DescMessage,
): FieldViolation[] {
  const { required, nested, lists } = presenceOf(schema);
  const violations = required
    .filter((field) => !isFieldSet(message, field) && !outer?.fields.some(({ name }) => name === field.name))
    .map((field) => missing(field, prefix));
  for (const field of nested) {
    if (!isFieldSet(message, field)) continue;
    violations.push(...missingFields(field.message, valueOf(message, field) as Message, `${prefix}${field.name}.`));
  }
  for (const field of lists) {
    for (const [index, item] of (valueOf(message, field) as Message[]).entries()) {
      violations.push(...missingFields(field.message, item, `${prefix}${field.name}[${index}].`, schema));
    }
  }
  return violations;
}

/** The fields of a message that must be set, and the fields whose messages are checked too. */
interface Presence {
  readonly required: readonly DescField[];
  readonly nested: readonly (DescField & { fieldKind: "message" })[];
  readonly lists: readonly (DescField & { fieldKind: "list"; listKind: "message" })[];
}

/** Cached, because every request is validated. */
const presences = new WeakMap<DescMessage, Presence>();

function presenceOf(schema: DescMessage): Presence {
  let presence = presences.get(schema);
  if (presence === undefined) {
    const isUpdate = schema.fields.some((field) => field.name === "update_mask");
    const nested = isUpdate ? [] : schema.fields.filter((field) => field.fieldKind === "message");
    const lists = schema.fields.filter((field) => field.fieldKind === "list" && field.listKind === "message");
    presence = { required: schema.fields.filter(isRequired), nested, lists };
    presences.set(schema, presence);
  }
  return presence;
}

function missing(field: DescField, prefix: string): FieldViolation {
  return { field: prefix + field.name, description: "must be set", rule: "required" };
}
