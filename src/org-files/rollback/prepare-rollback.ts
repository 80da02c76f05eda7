// Reads what an org was and is, and plans what leads it back, for callers who may read both.
import { getOption } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { authorization } from "../../../gen/iam/v1alpha/authorization_pb.ts";
import type { AccessPreview } from "../../../gen/iam/v1alpha/access_preview_pb.ts";
import { OrgsService } from "../../../gen/iam/v1alpha/org_pb.ts";
import type { RollbackOrgRequest } from "../../../gen/iam/v1alpha/org_file_pb.ts";
import { ProjectsService } from "../../../gen/iam/v1alpha/project_pb.ts";
import { callerOf, slicesOf, targetOf } from "../../access/evaluation/call.ts";
import type { Authorise, CallerAuthoriser } from "../../access/evaluation/authorise.ts";
import type { OpenPlannedOrg } from "../../access/previews/planned-org.ts";
import { type AskedMoment, findAskedMoment, readMoment } from "../../changes/past/asked-moment.ts";
import type { Database } from "../../database/database.ts";
import { invalidField } from "../../errors/service-error.ts";
import type { Installation } from "../../identity/installation.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";
import { fileForms } from "../file-resources.ts";
import { type PlanToken, hashChanges, hashRequest } from "../plan-changes.ts";
import type { OfCaller } from "../read-state.ts";
import { findInUse } from "./find-in-use.ts";
import { findPresent, findWanted, stateOf } from "./find-wanted.ts";
import { type RollbackPlan, planRollback } from "./plan-rollback.ts";
import { type Side, type Sides, readSides } from "./read-sides.ts";
import { toRollbackRows } from "./rollback-rows.ts";

export interface PreparedRollback {
  readonly sides: Sides;
  readonly plan: RollbackPlan;
  readonly token: PlanToken;
  /** Undefined if it is not wanted, or no change can affect access. */
  readonly preview: AccessPreview | undefined;
}

export interface RollbackDependencies {
  readonly database: Database;
  readonly registry: ResourceRegistry;
  readonly ofCaller: OfCaller;
  readonly authoriserOf: Authorise["authoriserOf"];
  readonly openPlannedOrg: OpenPlannedOrg;
  readonly installation: Pick<Installation, "commandLineClientId">;
}

/** The rule that errors name. */
const rule = "rollback";

/** @throws ServiceError FIELD_INVALID */
function readAsked({ revision, time }: Pick<RollbackOrgRequest, "revision" | "time">): AskedMoment {
  const asked = readMoment({ field: "revision", value: revision }, { field: "time", value: time }, rule);
  if (asked === undefined)
    throw invalidField("revision", "must be set, or time: one of the two says where to lead the Org back to", rule);
  return asked;
}

/**
 * Prepares a rollback; undefined if the org has changed meanwhile.
 *
 * @throws ServiceError PERMISSION_DENIED, FIELD_INVALID, REVISION_EXPIRED, LIMIT_EXCEEDED, RATE_LIMITED, SERVICE_UNAVAILABLE.
 */
export async function prepareRollback(
  dependencies: RollbackDependencies,
  request: RollbackOrgRequest,
  context: HandlerContext,
): Promise<PreparedRollback | undefined> {
  const { database, ofCaller, authoriserOf, openPlannedOrg, installation } = dependencies;
  const asked = readAsked(request);
  const [org] = targetOf(context, patterns.Org);
  const [caller, slices] = [callerOf(context), slicesOf(context)];
  const { id } = await ofCaller(OrgsService.method.getOrg, { path: formatReferences(patterns.Org, [org]) }, context);
  const authoriser = await authoriserOf(caller, slices);
  await requireMayRead(authoriser, id, permissionsToRead);
  const moment = await findAskedMoment(database.reads, id, asked, caller.time, rule);
  const sides = await readSides(dependencies, id, moment, { slices, signal: () => context.signal });
  if ([sides.now, sides.past].some(hasSuspendedContents)) await requireMayRead(authoriser, id, [toSeeSuspended]);
  const [pastMs, nowMs] = [asked.by === "time" ? asked.microseconds / 1000 : Date.parse(moment.time), caller.time];
  const wanted = await slices.run(findWanted(sides, pastMs, nowMs));
  const present = await slices.run(findPresent(sides.now, nowMs));
  const inUse = await findInUse(
    database,
    id,
    [...present.values()].filter(({ path }) => !wanted.resources.has(path)),
  );
  const leavesOutImpossible = request.leaveOutImpossible;
  const { commandLineClientId } = installation;
  const options = { authorId: caller.memberId, commandLineClientId, nowMs, inUse, leavesOutImpossible };
  const plan = await slices.run(planRollback(sides, wanted, options));
  const token = {
    revision: sides.revision,
    changes: await slices.run(hashChanges(plan)),
    request: hashRequest([rule, moment.revision, leavesOutImpossible]),
  };
  const rows = request.validateOnly ? await slices.run(toRollbackRows(sides, plan)) : undefined;
  if (rows === undefined || rows.steps.every(({ entries }) => entries.length === 0))
    return { sides, plan, token, preview: undefined };
  const preview = await openPlannedOrg({ caller, signal: context.signal, slices }, rows, (planned) =>
    planned.preview(),
  );
  return preview && { sides, plan, token, preview };
}

/** Those that the methods of an export require, and to list changes. */
const permissionsToRead: readonly string[] = [
  "iam.changes.list",
  ...Object.values(fileForms).map(({ list }) => getOption(list, authorization).permission),
];

const toSeeSuspended = getOption(ProjectsService.method.activateProject, authorization).permission;

/** Checks on the org: a path of then can be that of something else now, so nothing below the org decides. */
async function requireMayRead({ decide }: CallerAuthoriser, orgId: string, all: readonly string[]): Promise<void> {
  const path = { pattern: patterns.Org, references: [{ by: "id", value: orgId } as const] };
  for (const permission of all) await decide({ permission, listVisibility: "never" }, path);
}

/** Lists leave out what is in suspended projects. */
function hasSuspendedContents(side: Side): boolean {
  const suspended = new Set([...side.values()].flatMap((each) => (stateOf(each) === "SUSPENDED" ? [each.path] : [])));
  return [...side.keys()].some(
    (path) => suspended.has(path.split("/").slice(0, 2).join("/")) && path.split("/").length > 2,
  );
}
