import { create } from "@bufbuild/protobuf";
import { MemberSchema } from "../../../gen/iam/v1alpha/member_pb.ts";
import { brokenConstraints } from "../../validation/validate-message.ts";

/** Returns the violations of the API's constraints for a text in a field that all resources have. */
export function brokenRules(field: "displayName" | "description", text: string): string[] {
  return brokenConstraints(MemberSchema, create(MemberSchema, { [field]: text })).map(({ description }) => description);
}
