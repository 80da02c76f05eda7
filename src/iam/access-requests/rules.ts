import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type SqlBool, sql } from "kysely";
import type { AccessRequest, AccessRequestSchema } from "../../../gen/iam/v1alpha/access_request_pb.ts";
import type { Holds } from "../../access/evaluation/author-holds.ts";
import { callerOf, holderOf, isAsMember, orgOf } from "../../access/evaluation/call.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { secondsAfter } from "../../database/clock.ts";
import { required } from "../../errors/required.ts";
import { ServiceError, deleted, invalidField, notFound } from "../../errors/service-error.ts";
import { formatPath, formatReferences, pathName } from "../../paths/format-path.ts";
import { parseAnyPath } from "../../paths/parse-path.ts";
import { isSamePattern, patterns } from "../../paths/patterns.ts";
import { mapItems } from "../../standard-methods/batch/batch-item.ts";
import { orgReference, requireSameOrg } from "../../standard-methods/org-reference.ts";
import type { ResourceRules } from "../../standard-methods/rules.ts";
import { readExpireTime } from "../../standard-methods/write/expire-time.ts";
import { projectDefinition } from "../projects/definition.ts";
import { findRow } from "../../standard-methods/read/row-reader.ts";
import { findGrantedRoles } from "../role-bindings/granted-role.ts";
import { roleDefinition } from "../roles/definition.ts";
import type { RoleDependencies } from "../roles/role-dependencies.ts";
import { createBreakGlass } from "./break-glass.ts";
import { isGuarded } from "../../database/support-required.ts";
import {
  type AccessRequestRow,
  type Asking,
  readSupporter,
  countOfMember,
  lapseMs,
  projectsAskedFor,
} from "./store.ts";
import { mayGrant } from "./who-may.ts";

type Rules = ResourceRules<"access_requests", AccessRequestRow, typeof AccessRequestSchema>;

const [roleField, resourceField, expireField] = ["role_path", "resource_path", "expire_time"].map(
  (field) => `access_request.${field}`,
) as [string, string, string];

/** How long access can be asked for, in hours from the creation: by a member of the org, and by one of the platform. */
const [maxHours, maxSupportHours] = [30 * 24, 72];

/** How many requests of a member wait at the same time, and how many it creates in a day. */
const [maxPending, maxPerDay] = [10, 50];

const daySeconds = 86_400;

export function createAccessRequestRules(dependencies: RoleDependencies): Rules {
  const { readers, predefinedRoles, authorHolds, database } = dependencies;
  const breakGlass = createBreakGlass(dependencies);
  const roles = readers.readerOf(roleDefinition, roleDefinition.places[0]).lookup;

  return {
    scope: { kind: "parent" },
    creation: {
      kind: "in org",
      async prepare(transaction, _parents, requests, atItem) {
        const asking = await requireAsking(transaction, dependencies.installation.systemOrgId);
        return mapItems(requests, atItem, async (request) => {
          const { lockTime } = transaction.org;
          if (asking.supporter_id !== null) requireNothingNamed(transaction, request);
          const projectId = await findProject(transaction, request.resourcePath);
          const scope = { kind: projectId === null ? "org" : "project" } as const;
          const finding = findGrantedRoles(transaction, roles, predefinedRoles, scope, [request.rolePath], roleField);
          await transaction.db.sendHeld();
          const id = transaction.newId();
          const { columns: role } = required(finding()[0])();
          const expireTime = readEnd(transaction, request, asking.supporter_id === null ? maxHours : maxSupportHours);
          await requireFew(transaction, asking, request);
          return {
            columns: {
              id,
              project_id: projectId,
              ...asking,
              ...role,
              reason: request.reason,
              expire_time: expireTime,
              lapse_time: new Date(Math.min(lockTime.getTime() + lapseMs, expireTime.getTime())),
              state: "PENDING",
              decision_message: "",
              ...(request.breakGlass &&
                (await breakGlass(transaction, {
                  org_id: transaction.org.id,
                  id,
                  project_id: projectId,
                  ...role,
                  expire_time: expireTime,
                }))),
            },
          };
        });
      },
    },

    // Access is taken away with the role binding, by the rules of those.
    revokes: "nothing",

    async visible(context) {
      if (!isAsMember(context)) return undefined;
      const { orgId, memberId } = callerOf(context);
      const org = orgOf(context);
      // A member of the platform sees what it has asked for itself.
      if (org?.value !== orgId)
        return sql<SqlBool>`(access_requests.supporter_org_id = ${orgId} and access_requests.supporter_id = ${memberId})`;
      const holds = await authorHolds.now({ db: database.reads, author: holderOf(context) });
      // Who can grant roles on the org need not be able to do so on each project: a condition may leave one out, or it is suspended.
      const ofOrg = await maySeeOf(holds, { org_id: orgId, project_id: null });
      const decidable: string[] = [];
      for (const projectId of await projectsAskedFor(database.reads, orgId)) {
        if (await maySeeOf(holds, { org_id: orgId, project_id: projectId })) decidable.push(projectId);
      }
      return sql<SqlBool>`(access_requests.member_id = ${memberId} or access_requests.project_id = any(${decidable}::uuid[])
        or (${ofOrg} and access_requests.project_id is null))`;
    },
  };
}

/**
 * Reports whether somebody can grant roles on what requests in a list are about. Who asks chooses on how many projects that is decided, so
 * what costs more than the conditions of one request may is left out, and the rest is listed.
 */
async function maySeeOf(holds: Holds, scope: Parameters<typeof mayGrant>[1]): Promise<boolean> {
  try {
    return await mayGrant(holds, scope);
  } catch (error) {
    if (error instanceof ServiceError && error.reason === "LIMIT_EXCEEDED") return false;
    throw error;
  }
}

/**
 * Returns who asks: the author, which must be a member of the org or, if the org has to approve what members of the platform do, one of
 * these. Nobody else can be granted anything there by a request.
 */
async function requireAsking({ db, author, org }: OrgTransaction, systemOrgId: string): Promise<Asking> {
  const { actorId, actorOrgId } = author;
  if (actorId !== null && actorOrgId === org.id)
    return { member_id: actorId, supporter_org_id: null, supporter_id: null, supporter_name: null };
  if (actorId !== null && actorOrgId === systemOrgId && (await isGuarded(db, org.customer_id)))
    return { member_id: null, ...(await readSupporter(db, actorOrgId, actorId)) };
  const path = formatPath(patterns.Org, pathName(org));
  throw new ServiceError(
    "STATE_FORBIDS",
    `the caller is no member of ${path}, and only members can ask for access in it`,
    {
      metadata: { resource: path },
    },
  );
}

/**
 * Checks that a request of a member of the platform is about the whole org, and for a predefined role: the answer to another one would tell what is in the
 * org.
 *
 * @throws ServiceError PATH_INVALID, FIELD_INVALID
 */
function requireNothingNamed(transaction: OrgTransaction, { resourcePath, rolePath }: AccessRequest): void {
  const { pattern, references } = parseAnyPath([patterns.Org, patterns.Project], resourcePath, resourceField);
  requireSameOrg(transaction, required(references[0]), resourceField);
  const path = formatPath(patterns.Org, pathName(transaction.org));
  if (!isSamePattern(pattern, patterns.Org)) {
    throw invalidField(
      resourceField,
      `must be ${path}: members of the platform ask for the whole org`,
      "support_access",
    );
  }
  if (/^\/?roles\/[^/]+$/.test(rolePath)) return;
  const description =
    "must be a predefined role, such as /roles/viewer: members of the platform ask for no role of the org";
  throw invalidField(roleField, description, "support_access");
}

/**
 * Finds the project that a request is about; null if it is about the org.
 *
 * @throws ServiceError PATH_INVALID, FIELD_INVALID, RESOURCE_NOT_FOUND, or STATE_FORBIDS when the project is deleted.
 */
async function findProject(transaction: OrgTransaction, text: string): Promise<string | null> {
  const { pattern, references } = parseAnyPath([patterns.Org, patterns.Project], text, resourceField);
  const [org, project] = references;
  requireSameOrg(transaction, required(org), resourceField);
  if (isSamePattern(pattern, patterns.Org)) return null;
  const found = await findRow(transaction.db, projectDefinition, [orgReference(transaction), required(project)]);
  const path = formatReferences(patterns.Project, references);
  if (found === undefined) throw notFound("project", path);
  if (found.delete_time !== null) throw deleted("project", path);
  return found.id;
}

/** @throws ServiceError FIELD_INVALID when it is not in the future, or too late. */
function readEnd({ org }: OrgTransaction, { expireTime }: AccessRequest, hours: number): Date {
  const end = readExpireTime(expireTime, org, expireField);
  const latest = secondsAfter(org.lockTime, hours * 3_600);
  if (end === null || expireTime === undefined || timestampDate(expireTime) > latest) {
    const time = hours === maxHours ? `${maxHours / 24} days` : `${hours} hours`;
    const description = `must be at most ${time} from now, ${latest.toISOString()}`;
    throw invalidField(expireField, description, "access_request.expire_time");
  }
  return end;
}

/**
 * Checks that somebody has not asked too often. Emergencies are counted apart, so that no credential that may not begin one keeps its member from it.
 *
 * @throws ServiceError LIMIT_EXCEEDED
 */
async function requireFew(transaction: OrgTransaction, asking: Asking, { breakGlass }: AccessRequest): Promise<void> {
  const { pending, created, begun } = await countOfMember(
    transaction,
    asking,
    secondsAfter(transaction.org.lockTime, -daySeconds),
  );
  const limits: readonly (readonly [number, number, string])[] = breakGlass
    ? [[begun, maxPerDay, "emergencies in 24 hours"]]
    : [
        [pending, maxPending, "access requests that wait for a decision; withdraw one first"],
        [created, maxPerDay, "access requests in 24 hours"],
      ];
  for (const [count, limit, what] of limits) {
    if (count < limit) continue;
    const description = `the caller has reached its limit of ${limit} ${what}`;
    const details = { metadata: { resource: "caller", limit: String(limit) } };
    throw new ServiceError("LIMIT_EXCEEDED", description, {
      ...details,
      quotas: [{ subject: "caller", description }],
    });
  }
}
