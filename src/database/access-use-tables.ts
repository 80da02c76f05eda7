import type { Generated } from "kysely";

/**
 * The days on which something was last of use for access. What it is may be gone.
 *
 * @public
 */
export interface AccessUses {
  customer_id: string;
  org_id: string;
  /** A role binding, a member, a role of the org, a client, or the member or group that is in a group. The org itself, if uses in it were lost. */
  used_id: string;
  /** The permission of the role, or the id of the group that it is in; empty for what is used as a whole. */
  part: string;
  /** The begin of the day, in UTC. */
  last_day: Date;
}

/**
 * The single row that says since when uses are recorded, and when a server has last noted that it does.
 *
 * @public
 */
export interface UseRecording {
  singleton: Generated<boolean>;
  since_time: Date;
  noted_time: Date;
}

/** @public */
export interface AccessUseTables {
  access_uses: AccessUses;
  use_recording: UseRecording;
}
