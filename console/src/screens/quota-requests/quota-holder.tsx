import { nameOf, orgOf, parentOfQuota } from "../../calls/paths.ts";
import { useOrg } from "../../calls/use-org.ts";
import { PathLink, PathLinks } from "../../ui/path-link.tsx";

/** Leads to whose quota is at a path: an org, or a project. */
export function QuotaHolder({ quotaPath }: { readonly quotaPath: string }) {
  const path = parentOfQuota(quotaPath);
  return path === orgOf(path) ? <OrgLink path={path} /> : <PathLinks paths={[path]} />;
}

function OrgLink({ path }: { readonly path: string }) {
  return <PathLink path={path} name={useOrg(path).org?.displayName || nameOf(path)} />;
}
