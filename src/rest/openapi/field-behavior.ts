import { type DescField, getOption, hasOption } from "@bufbuild/protobuf";
import { field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { FieldBehavior, field_behavior } from "../../../gen/google/api/field_behavior_pb.ts";

// Reads `google.api.field_behavior` of a field (AIP-203).

export function isOutputOnly(field: DescField): boolean {
  return has(field, FieldBehavior.OUTPUT_ONLY);
}

export function isInputOnly(field: DescField): boolean {
  return has(field, FieldBehavior.INPUT_ONLY);
}

export function isImmutable(field: DescField): boolean {
  return has(field, FieldBehavior.IMMUTABLE);
}

export function isRequired(field: DescField): boolean {
  return has(field, FieldBehavior.REQUIRED) || (hasOption(field, fieldRules) && getOption(field, fieldRules).required);
}

function has(field: DescField, behavior: FieldBehavior): boolean {
  return getOption(field, field_behavior).includes(behavior);
}
