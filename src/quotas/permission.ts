import { getOption } from "@bufbuild/protobuf";
import { authorization } from "../../gen/iam/v1alpha/authorization_pb.ts";
import { QuotasService } from "../../gen/iam/v1alpha/quota_pb.ts";

export const permissionToGetQuotas = getOption(QuotasService.method.getQuota, authorization).permission;
export const permissionToUpdateQuotas = getOption(QuotasService.method.updateQuota, authorization).permission;
