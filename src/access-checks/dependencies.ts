import type { Decider } from "../access/decider.ts";
import type { Snapshots } from "../access/snapshots.ts";
import type { Database } from "../database/database.ts";
import type { PageTokens } from "../resource/page-token.ts";
import type { SubjectOrgs } from "./subject-orgs.ts";

/** What the methods of AccessService are made with. */
export interface AccessDependencies {
  readonly snapshots: Snapshots;
  readonly decider: Decider;
  readonly subjectOrgs: SubjectOrgs;
  readonly pageTokens: PageTokens;
  readonly database: Database;
}
