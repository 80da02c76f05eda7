import type { Author } from "../../changes/author.ts";
import { required } from "../../errors/required.ts";
import type { OrgHeads } from "../snapshots/org-heads.ts";
import type { Snapshots } from "../snapshots/snapshots.ts";
import type { AccessEvaluator } from "./evaluator.ts";
import type { TargetPath } from "./target-path.ts";

/**
 * Reports whether the author of a change holds a permission on a path now: access that was removed while the change waited for
 * a lock does not count.
 */
export type AuthorHolds = (author: Author, permission: string, path: TargetPath) => Promise<boolean>;

export function createAuthorHolds(heads: OrgHeads, snapshots: Snapshots, evaluator: AccessEvaluator): AuthorHolds {
  return async ({ actorId, actorOrgId }, permission, path) => {
    // The service itself may do everything.
    if (actorId === null || actorOrgId === null) return true;
    const head = required(await heads([{ by: "id", value: actorOrgId }]));
    const snapshot = await snapshots.at(head.id, head);
    const check = { subject: { kind: "member", id: actorId }, attributes: {}, now: head.now, counted: "all" } as const;
    return (await evaluator.resolveAllowed(snapshot, check, permission, path)) !== undefined;
  };
}
