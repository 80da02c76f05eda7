import type { Permissions } from "../../calls/use-permissions.ts";

export interface TabProps {
  /** The member, such as `/orgs/acme/members/alice`. */
  readonly path: string;
  readonly permissions: Permissions;
}
