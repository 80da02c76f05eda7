import type { AccessEvaluator } from "../access/evaluation/evaluator.ts";
import type { Snapshots } from "../access/snapshots/snapshots.ts";
import type { Database } from "../database/database.ts";
import type { PageTokens } from "../resource/page-token.ts";
import type { SubjectOrgs } from "./subject-orgs.ts";

/** What the methods of AccessService are made with. */
export interface AccessDependencies {
  readonly snapshots: Snapshots;
  readonly evaluator: AccessEvaluator;
  readonly subjectOrgs: SubjectOrgs;
  readonly pageTokens: PageTokens;
  readonly database: Database;
}
