import { useQuery } from "@connectrpc/connect-query";
import { OrgsService } from "../../../gen/iam/v1alpha/org_pb.ts";

/** Returns the path of the customer of an org; undefined until it is read, and for people who may not read the org. */
export function useCustomerOf(org: string): string | undefined {
  const options = { enabled: org !== "", retry: false };
  return useQuery(OrgsService.method.getOrg, { path: org }, options).data?.customerPath || undefined;
}
