import { create, createRegistry } from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";
import { file_iam_v1alpha_constraints } from "../../gen/iam/v1alpha/constraints_pb.ts";
import { MemberSchema } from "../../gen/iam/v1alpha/member_pb.ts";

const validator = createValidator({ registry: createRegistry(file_iam_v1alpha_constraints) });

/** Returns the violations of the API's constraints for a text in a field that all resources have. */
export function brokenRules(field: "displayName" | "description", text: string): string[] {
  const result = validator.validate(MemberSchema, create(MemberSchema, { [field]: text }));
  if (result.kind === "error") throw result.error;
  return result.kind === "invalid" ? result.violations.map(({ message }) => message) : [];
}
