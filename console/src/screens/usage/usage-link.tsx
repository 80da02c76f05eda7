import { Link } from "@tanstack/react-router";
import { usageOf } from "../../calls/paths.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { texts } from "../../texts/texts.ts";

export const usagePermission = "iam.usage.get";

interface UsageLinkProps {
  /** The org, project or customer. */
  readonly path: string;
  /** The kind that is shown. */
  readonly kind?: string;
  readonly className?: string;
}

/** Leads to what something has consumed over time, for people who may read that. */
export function UsageLink({ path, kind, className = "" }: UsageLinkProps) {
  const may = usePermissions(path, [usagePermission]).may(usagePermission) === true;
  return may ? (
    <Link to={usageOf(path)} search={kind === undefined ? {} : { kind }} className={className}>
      {texts.overview.overTime}
    </Link>
  ) : null;
}
