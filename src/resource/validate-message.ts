import { type DescField, type DescMessage, type MessageShape, createRegistry, isFieldSet } from "@bufbuild/protobuf";
import { type ReflectMessage, pathToString, reflect } from "@bufbuild/protobuf/reflect";
import { createValidator } from "@bufbuild/protovalidate";
import { file_iam_v1alpha_constraints } from "../../gen/iam/v1alpha/constraints_pb.ts";
import { type FieldViolation, invalidFields } from "../errors/service-error.ts";
import { isRequired } from "./field-behavior.ts";

const validator = createValidator({ registry: createRegistry(file_iam_v1alpha_constraints), regexMatch });

/** By their patterns, of which the constraints have few. */
const expressions = new Map<string, RegExp>();

/**
 * The library's own matcher is RE2 in JavaScript, which makes checking a message take twice as long. What that is for, time in
 * proportion to the text, our patterns have anyway, and no others come here; they mean the same in both.
 */
function regexMatch(pattern: string, text: string): boolean {
  let expression = expressions.get(pattern);
  if (expression === undefined) {
    expression = new RegExp(pattern, "u");
    expressions.set(pattern, expression);
  }
  return expression.test(text);
}

/** How many violations an error tells of: as many as fit into the trailers of a gRPC answer. */
export const maxViolations = 100;

/**
 * Checks a message against its `buf.validate` constraints and REQUIRED fields, those of messages inside it included.
 * In a message with an `update_mask` the resource may be partial; it is checked once it is merged.
 *
 * @param prefix goes before the fields' names in errors, `member.`.
 * @throws ServiceError FIELD_INVALID with all violations.
 */
export function validateMessage<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
  prefix = "",
): void {
  const violations = [...missingFields(schema, message, prefix), ...brokenConstraints(schema, message, prefix)];
  if (violations.length > 0) throw invalidFields(violations.slice(0, maxViolations));
}

function brokenConstraints<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
  prefix: string,
): FieldViolation[] {
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

/** @param outer the message that holds this one in a list: what that can name for all, an item need not name again. */
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
    const inner = reflect(schema, message).get(field).message;
    violations.push(...missingFields(field.message, inner, `${prefix}${field.name}.`));
  }
  for (const field of lists) {
    for (const [index, inner] of [...reflect(schema, message).get(field)].entries()) {
      const item = inner as ReflectMessage;
      violations.push(...missingFields(item.desc, item.message, `${prefix}${field.name}[${index}].`, schema));
    }
  }
  return violations;
}

/** The fields of a message that must be set, and those whose own fields are looked at. */
interface Presence {
  readonly required: readonly DescField[];
  readonly nested: readonly (DescField & { fieldKind: "message" })[];
  readonly lists: readonly (DescField & { fieldKind: "list"; listKind: "message" })[];
}

/** Read from the descriptors once; every request is checked. */
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
