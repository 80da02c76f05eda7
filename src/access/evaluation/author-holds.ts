import type { Kysely } from "kysely";
import type { Author } from "../../changes/author.ts";
import type { Schema } from "../../database/schema.ts";
import type { ViewAuthor } from "./author-view.ts";
import type { AccessEvaluator } from "./evaluator.ts";
import type { TargetPath } from "./target-path.ts";

/**
 * Reports whether the author of a change holds a permission on a path now: access that was removed while the change waited for
 * a lock does not count.
 *
 * @param db the transaction of the change, or another connection if it has failed.
 */
export type AuthorHolds = (
  db: Kysely<Schema>,
  author: Author,
  permission: string,
  path: TargetPath,
) => Promise<boolean>;

export function createAuthorHolds(viewAuthor: ViewAuthor, evaluator: AccessEvaluator): AuthorHolds {
  return async (db, author, permission, path) => {
    const view = await viewAuthor({ db, author }, "current");
    if (view === undefined) return true;
    return (await evaluator.resolveAllowed(view.snapshot, view.check, permission, path)) !== undefined;
  };
}
