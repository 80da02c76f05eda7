import type { AccessPreview } from "../../gen/iam/v1alpha/access_preview_pb.ts";
import type { Change, OrgTransaction } from "../changes/write-in-org.ts";
import type { Caller } from "../identity/caller.ts";

/** A line that a write has for the change log of an org. */
export interface Written {
  /** As it was before the write. */
  readonly org: Pick<OrgTransaction["org"], "id" | "revision">;
  readonly change: Change;
}

/**
 * Tells who would gain or lose what by a write, as far as its caller may see that. To be called while the write holds the locks
 * of its orgs, before it is taken back.
 */
type TellPreview = (written: readonly Written[]) => Promise<AccessPreview>;

/**
 * Runs a write that is only to be checked, and gives it what tells the preview. A few are run at once, so that previews hold up
 * few other writes; a write may be run again.
 *
 * @param signal ends the preview.
 */
export type PreviewAccess = <Answer>(
  caller: Caller,
  signal: AbortSignal,
  write: (tell: TellPreview) => Promise<Answer>,
) => Promise<Answer>;
