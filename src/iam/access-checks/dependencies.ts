import type { AccessEvaluator } from "../../access/evaluation/evaluator.ts";
import type { ViewCaller } from "../../access/evaluation/caller-view.ts";
import type { Database } from "../../database/database.ts";
import type { Installation } from "../../identity/installation.ts";
import type { PageTokens } from "../../standard-methods/read/page-token.ts";
import type { RequireReached } from "./require-reached.ts";
import type { SubjectOrgs } from "./subject-orgs.ts";

export interface AccessDependencies {
  readonly viewCaller: ViewCaller;
  readonly evaluator: AccessEvaluator;
  readonly subjectOrgs: SubjectOrgs;
  readonly requireReached: RequireReached;
  readonly pageTokens: PageTokens;
  readonly database: Database;
  readonly installation: Pick<Installation, "systemOrgId">;
}
