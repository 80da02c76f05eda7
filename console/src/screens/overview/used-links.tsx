import { Link } from "@tanstack/react-router";
import { quotaOf } from "../../calls/paths.ts";
import { texts } from "../../texts/texts.ts";
import { UsageLink } from "../usage/usage-link.tsx";

/** Lead from what an org, project or customer uses now to its quota, and to what it has used over time. */
export function UsedLinks({ path }: { readonly path: string }) {
  return (
    <>
      <UsageLink path={path} />
      <Link to={quotaOf(path)}>{texts.nav.quota}</Link>
    </>
  );
}
