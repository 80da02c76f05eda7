import type { AccessPreview } from "../../../gen/iam/v1alpha/access_preview_pb.ts";
import type { Change } from "../../changes/change.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { Caller } from "../../identity/caller.ts";

/** A change that a write makes in an org. */
export interface Written {
  readonly org: Pick<OrgTransaction["org"], "id" | "revision">;
  readonly change: Change;
}

/**
 * Returns who would gain or lose what by a write, as far as its caller may see that. Must be called while the write holds the
 * locks of its orgs, before it is rolled back. Returns undefined if an org has to be read into memory first, which takes too long
 * under its lock: the write ends with nothing then, and is run again.
 */
export type TellPreview = (written: readonly Written[]) => Promise<AccessPreview | undefined>;

/**
 * Runs a write that is only validated, and passes it the function that computes the preview. A write may be run more than once.
 *
 * @param signal cancels the preview.
 */
export type PreviewAccess = <Result>(
  caller: Caller,
  signal: AbortSignal,
  write: (tell: TellPreview) => Promise<Result | undefined>,
) => Promise<Result>;
