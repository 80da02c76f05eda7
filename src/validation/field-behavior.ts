import { type DescField, getOption } from "@bufbuild/protobuf";
import { FieldBehavior, field_behavior } from "../../gen/google/api/field_behavior_pb.ts";

// The `google.api.field_behavior` of fields (AIP-203).

/** Whether the service sets the field; a value in a request is ignored. */
export const isOutputOnly = (field: DescField): boolean => has(field, FieldBehavior.OUTPUT_ONLY);

/** Whether callers set the field, and no response has it (AIP-203). */
export const isInputOnly = (field: DescField): boolean => has(field, FieldBehavior.INPUT_ONLY);

/** Whether the field is set at creation and cannot change. */
export const isImmutable = (field: DescField): boolean => has(field, FieldBehavior.IMMUTABLE);

/** Whether the field must be set. */
export const isRequired = (field: DescField): boolean => has(field, FieldBehavior.REQUIRED);

function has(field: DescField, behavior: FieldBehavior): boolean {
  return getOption(field, field_behavior).includes(behavior);
}
