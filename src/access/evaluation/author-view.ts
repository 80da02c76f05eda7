import type { Kysely } from "kysely";
import type { Author, AuthorHead, LockedOrg } from "../../changes/author.ts";
import type { Schema } from "../../database/schema.ts";
import { required } from "../../errors/required.ts";
import type { OrgHeads } from "../snapshots/org-heads.ts";
import type { Snapshots } from "../snapshots/current-snapshots.ts";
import type { DecisionView } from "./caller-view.ts";
import { type Memberships, readCounted } from "./limited-grants.ts";
import { createRequestConditions } from "./condition-budget.ts";

/** Who holds something, and the credential with which. */
export type Holder = Pick<Author, "actorId" | "actorOrgId" | "grantsUntil" | "narrowing"> & {
  readonly origin: Pick<Author["origin"], "credentialId">;
};

/** The author of a change, and where to read what its API key counts. */
export interface AuthorCall {
  readonly db: Kysely<Schema>;
  readonly author: Holder;
  /** The org that the change has locked, if any. */
  readonly org?: LockedOrg;
  /** The author's org, if it was read under that lock. */
  readonly authorHead?: AuthorHead | undefined;
}

/**
 * Returns what decisions about the author of a change are made from: what it holds now, because access that was removed while the
 * change waited for a lock does not count. Returns undefined for the service itself, which may do everything.
 *
 * @throws ServiceError SERVICE_UNAVAILABLE when the author's org cannot be read.
 */
export type ViewAuthor = (call: AuthorCall, memberships: Memberships) => Promise<DecisionView | undefined>;

export function createViewAuthor(snapshots: Snapshots, heads: OrgHeads): ViewAuthor {
  return async ({ db, author, org, authorHead }, memberships) => {
    const { actorId, actorOrgId, grantsUntil, narrowing, origin } = author;
    if (actorId === null || actorOrgId === null) return undefined;
    const head =
      actorOrgId === org?.id
        ? { revision: org.revision, readAt: performance.now(), now: org.lockTime.getTime() }
        : (authorHead ?? required(await heads([{ by: "id", value: actorOrgId }])));
    const snapshot = await snapshots.at(actorOrgId, head);
    const key = { orgId: actorOrgId, memberId: actorId, credentialId: origin.credentialId, grantsUntil };
    const counted = await readCounted(db, snapshot, key, memberships);
    const check = {
      subject: { kind: "member", id: actorId },
      attributes: {},
      now: head.now,
      counted,
      narrowing,
      // Who delivers, or lets somebody in, makes no call.
      ...(origin.credentialId === null && ({ withoutApprovals: true } as const)),
      conditions: createRequestConditions(),
    } as const;
    return { snapshot, check };
  };
}
