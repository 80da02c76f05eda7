import { type DescField, type DescMessage, type MessageShape, createRegistry } from "@bufbuild/protobuf";
import { pathToString, reflect } from "@bufbuild/protobuf/reflect";
import { createValidator } from "@bufbuild/protovalidate";
import { file_iam_v1alpha_constraints } from "../../gen/iam/v1alpha/constraints_pb.ts";
import { type FieldViolation, invalidFields } from "../errors/service-error.ts";
import { isRequired } from "./field-behavior.ts";

const validator = createValidator({ registry: createRegistry(file_iam_v1alpha_constraints) });

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
  if (violations.length > 0) throw invalidFields(violations);
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

function missingFields<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
  prefix: string,
): FieldViolation[] {
  const fields = reflect(schema, message);
  const isUpdate = schema.fields.some((field) => field.name === "update_mask");
  return schema.fields.flatMap((field): FieldViolation[] => {
    const isSet = fields.isSet(field);
    if (!isSet) return isRequired(field) ? [missing(field, prefix)] : [];
    if (field.fieldKind !== "message" || isUpdate) return [];
    return missingFields(field.message, fields.get(field).message, `${prefix}${field.name}.`);
  });
}

function missing(field: DescField, prefix: string): FieldViolation {
  return { field: prefix + field.name, description: "must be set", rule: "required" };
}
