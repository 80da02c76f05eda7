import { type DescField, getOption } from "@bufbuild/protobuf";
import { FieldBehavior, field_behavior } from "../../gen/google/api/field_behavior_pb.ts";

// What a field's `google.api.field_behavior` says (AIP-203).

/** The service sets it; what a caller sends is ignored. */
export const isOutputOnly = (field: DescField): boolean => has(field, FieldBehavior.OUTPUT_ONLY);

/** Set at creation, never changed. */
export const isImmutable = (field: DescField): boolean => has(field, FieldBehavior.IMMUTABLE);

/** Must not be empty. */
export const isRequired = (field: DescField): boolean => has(field, FieldBehavior.REQUIRED);

function has(field: DescField, behavior: FieldBehavior): boolean {
  return getOption(field, field_behavior).includes(behavior);
}
