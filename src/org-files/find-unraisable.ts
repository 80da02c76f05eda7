// Limits that a plan raises or removes, and that the one who applies it may not.
import type { HandlerContext } from "@connectrpc/connect";
import { getOption } from "@bufbuild/protobuf";
import { authorization } from "../../gen/iam/v1alpha/authorization_pb.ts";
import { OrgFilesService } from "../../gen/iam/v1alpha/org_file_pb.ts";
import type { AuthorHolds } from "../access/evaluation/author-holds.ts";
import { holderOf } from "../access/evaluation/call.ts";
import type { Database } from "../database/database.ts";
import { describeRaise } from "../iam/quotas/may-raise.ts";
import type { AnyPath } from "../paths/parse-path.ts";
import { patterns } from "../paths/patterns.ts";
import { type LevelRow, pathAbove } from "../quotas/levels.ts";
import { permissionToUpdateQuotas } from "../quotas/permission.ts";
import { pathInOrg } from "./describe-changes.ts";
import type { QuotaChange } from "./plan-quotas.ts";
import type { OrgState } from "./read-state.ts";

export interface RaiseDependencies {
  readonly authorHolds: AuthorHolds;
  readonly database: Database;
}

const permissionToApply = getOption(OrgFilesService.method.applyOrg, authorization).permission;

/** How many quotas are told. */
const maxTold = 100;

/**
 * Returns an obstacle for each quota with limits that the caller may not raise, as UpdateQuota would refuse it. A caller who may not apply
 * files, or names the author of the apply, plans for somebody else, whose permissions it is not told.
 */
export async function findUnraisable(
  { authorHolds, database }: RaiseDependencies,
  context: HandlerContext,
  state: Pick<OrgState, "id" | "name">,
  changes: readonly QuotaChange[],
  authorPath = "",
): Promise<readonly string[]> {
  const raising = changes.filter(({ raised }) => raised.length > 0);
  if (raising.length === 0 || authorPath !== "") return [];
  const holds = await authorHolds.now({ db: database.reads, author: holderOf(context) });
  const org: AnyPath = { pattern: patterns.Org, references: [{ by: "id", value: state.id, shown: state.name }] };
  if (!(await holds(permissionToApply, org))) return [];
  const refusals = new Map<LevelRow["above"], readonly QuotaChange[]>();
  const ofOrg = raising.filter(({ level }) => level === "");
  const ofProjects = raising.filter(({ level }) => level !== "");
  if (ofOrg.length > 0) refusals.set(await readCustomer(database, state.id), ofOrg);
  if (ofProjects.length > 0) refusals.set(org, ofProjects);
  const obstacles: string[] = [];
  for (const [above, refused] of refusals) {
    if (await holds(permissionToUpdateQuotas, above)) continue;
    for (const { path, level, raised, raisedAt } of refused) {
      const at = raisedAt === "" ? path : raisedAt.replace(/^org_file\./, "");
      obstacles.push(`${at}: ${describeRaise(pathInOrg(state.name, level), pathAbove(above), raised)}`);
    }
  }
  return obstacles.slice(0, maxTold);
}

async function readCustomer({ reads }: Database, orgId: string): Promise<AnyPath> {
  const { id, name } = await reads
    .selectFrom("orgs")
    .innerJoin("customers", "customers.id", "orgs.customer_id")
    .select(["customers.id", "customers.name"])
    .where("orgs.id", "=", orgId)
    .executeTakeFirstOrThrow();
  return { pattern: patterns.Customer, references: [{ by: "id", value: id, shown: name }] };
}
