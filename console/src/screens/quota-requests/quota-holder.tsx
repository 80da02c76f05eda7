import { useQuery } from "@connectrpc/connect-query";
import { OrgsService } from "../../../../gen/iam/v1alpha/org_pb.ts";
import { nameOf, orgOf, parentOfQuota } from "../../calls/paths.ts";
import { PathLink, PathLinks } from "../../ui/path-link.tsx";

/** Leads to whose quota is at a path: an org, or a project. */
export function QuotaHolder({ quotaPath }: { readonly quotaPath: string }) {
  const path = parentOfQuota(quotaPath);
  return path === orgOf(path) ? <OrgLink path={path} /> : <PathLinks paths={[path]} />;
}

function OrgLink({ path }: { readonly path: string }) {
  const { data } = useQuery(OrgsService.method.getOrg, { path }, { retry: false });
  return <PathLink path={path} name={data?.displayName || nameOf(path)} />;
}
