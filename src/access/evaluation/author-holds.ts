import type { Kysely } from "kysely";
import type { Schema } from "../../database/schema.ts";
import { allows } from "./allows.ts";
import type { AuthorCall, Holder, ViewAuthor } from "./author-view.ts";
import type { AccessEvaluator } from "./evaluator.ts";
import type { TargetPath } from "./target-path.ts";

export type Holds = (permission: string, path: TargetPath) => Promise<boolean>;

/** What the author of a change, or the caller of a read that has waited, holds now. */
export interface AuthorHolds {
  /**
   * Reports whether the author of a change holds a permission on a path now: access that was removed while the change waited for
   * a lock does not count.
   *
   * @param db the transaction of the change, or another connection if it has failed.
   */
  (db: Kysely<Schema>, author: Holder, permission: string, path: TargetPath): Promise<boolean>;
  /** Returns a function that reports that for several permissions and paths, for which the author's org is read once. */
  readonly now: (call: AuthorCall) => Promise<Holds>;
  /**
   * Returns a function that reports what the author would hold now in an org if neither that nor some others were suspended or deleted: who has
   * lost a role, or is not an active member, holds nothing by it there either.
   *
   * @param orgIds of these orgs; paths are of one of them, or in it.
   */
  readonly ifActive: (call: AuthorCall, orgIds: readonly string[]) => Promise<Holds>;
}

export function createAuthorHolds(viewAuthor: ViewAuthor, evaluator: AccessEvaluator): AuthorHolds {
  const now: AuthorHolds["now"] = async (call) => {
    const view = await viewAuthor(call, "current");
    if (view === undefined) return () => Promise.resolve(true);
    const { snapshot, check } = view;
    return async (permission, path) =>
      (await evaluator.resolveAllowed(snapshot, check, permission, path)) !== undefined;
  };
  const ifActive: AuthorHolds["ifActive"] = async (call, orgIds) => {
    const view = await viewAuthor(call, "current");
    if (view === undefined) return () => Promise.resolve(true);
    const { snapshot, check } = view;
    return async (permission, path) => {
      const target = await evaluator.resolve(snapshot, path);
      if (target === undefined) return false;
      const { org } = snapshot;
      const ifOrgActive = orgIds.includes(org.id)
        ? { ...snapshot, org: { ...org, state: "ACTIVE" as const } }
        : snapshot;
      const suspensions = target.suspensions.filter(({ kind }) => kind !== "org");
      return allows(ifOrgActive, check, permission, { ...target, suspensions });
    };
  };
  const holds = async (...[db, author, permission, path]: Parameters<AuthorHolds>): Promise<boolean> =>
    (await now({ db, author }))(permission, path);
  return Object.assign(holds, { now, ifActive });
}
