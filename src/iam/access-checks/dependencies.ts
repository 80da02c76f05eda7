import type { AccessEvaluator } from "../../access/evaluation/evaluator.ts";
import type { ViewCaller } from "../../access/evaluation/caller-view.ts";
import type { Database } from "../../database/database.ts";
import type { Installation } from "../../identity/installation.ts";
import type { PageTokens } from "../../standard-methods/read/page-token.ts";
import type { OpenPastOrg } from "./as-of.ts";
import type { RequireReached } from "./require-reached.ts";
import type { SubjectOrgs } from "./subject-orgs.ts";

/** What is in a project, besides what this area knows. */
export interface ContainedResource {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  /** Whether it is of the wanted type, and not deleted. */
  readonly isWanted: boolean;
}

/** Which resources to read. */
interface ContentsQuery {
  readonly orgId: string;
  /** The first two parts of a permission: `compute.instances`. Undefined for all types. */
  readonly type: string | undefined;
  /** Undefined for the first ones. */
  readonly after: string | undefined;
}

/** The types and resources in projects, which are in another area. */
export interface ProjectContents {
  /** Returns the verbs of the permissions on a type; undefined if there is no such type. */
  verbsOf(type: string): Promise<readonly string[] | undefined>;
  /** Returns the next resources in the order of their ids, also those that are not wanted: at most `limit`. */
  read(query: ContentsQuery, limit: number): Promise<readonly ContainedResource[]>;
}

export interface AccessDependencies {
  readonly viewCaller: ViewCaller;
  readonly evaluator: AccessEvaluator;
  readonly subjectOrgs: SubjectOrgs;
  readonly requireReached: RequireReached;
  readonly openPastOrg: OpenPastOrg;
  readonly pageTokens: PageTokens;
  readonly database: Database;
  readonly projectContents: ProjectContents;
  /** All permissions of this service. */
  readonly knownPermissions: readonly string[];
  readonly installation: Pick<Installation, "systemOrgId">;
}
