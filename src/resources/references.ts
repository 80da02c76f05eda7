// References between resources: an instance uses a volume. What is used is not deleted. That is exact because resources refer
// only to others in their org, under whose lock operations start and end.
import { type Transaction, sql } from "kysely";
import { isInOrgOf } from "../database/org-key.ts";
import type { AuthorHolds, Holds } from "../access/evaluation/author-holds.ts";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import type { ReferencedId, Schema, StoredOperationType, StoredReference } from "../database/schema.ts";
import { mapEntry } from "../errors/map-entry.ts";
import { required } from "../errors/required.ts";
import { type FieldViolation, ServiceError, invalidFields } from "../errors/service-error.ts";
import { formatPath, orgPathName } from "../paths/format-path.ts";
import { patterns } from "../paths/patterns.ts";
import { type AnyPath, parseResourcePath } from "../paths/parse-path.ts";
import { stateOf } from "../standard-methods/definition/lifecycle.ts";
import { findRow, readByKeys } from "../standard-methods/read/row-reader.ts";
import { decisionPath, mayReadResource, mayReadRow, projectOf } from "./may-read.ts";
import { readPriorState } from "./operations/store.ts";
import { infrastructureDefinition } from "./resources/definition.ts";
import { placeNames, resourcePath } from "./resources/message.ts";
import { resourceTypePath } from "./resource-types/message.ts";
import type { InfrastructureRow } from "./resources/store.ts";

/** Resources by the name of the reference; null for a reference that is removed. */
export type ReferenceIds = Readonly<Record<string, ReferencedId | null>>;

/**
 * How many references there may be from a resource to what it begins to use, to what that uses, and so on. What is further down
 * can grow later; a reference that leads back is still found, or is too deep.
 */
const maxDepth = 4;

const usableStates: readonly string[] = ["ACTIVE", "UPDATING", "SUSPENDED"];

/**
 * Checks the references that a request gives for an operation on a resource: each is one of the operation's, and names a resource
 * of its type in the same org that the author of the request may read and use, and that can be used.
 *
 * @param given paths by the name of the reference; an empty one removes the reference.
 * @param field the field of the request, for errors: `references`.
 * @throws ServiceError FIELD_INVALID with a violation for each: `references["volume"]`; PERMISSION_DENIED for the first that the
 *   author may read and not use.
 */
export async function readReferences(
  transaction: OrgTransaction,
  authorHolds: AuthorHolds,
  resourceId: string,
  { references = [] }: StoredOperationType,
  given: Readonly<Record<string, string>>,
  field: string,
): Promise<ReferenceIds> {
  const violations: FieldViolation[] = [];
  const found: [string, ReferencedId | null][] = [];
  const fail = (name: string, description: string): void => {
    violations.push({ field: mapEntry(field, name), description, rule: "references" });
  };
  const holds = Object.values(given).some((path) => path !== "") ? await authorHolds.now(transaction) : undefined;
  for (const [name, path] of Object.entries(given)) {
    const definition = references.find((each) => each.name === name);
    if (definition === undefined) fail(name, `is not among the references of the operation; ${accepted(references)}`);
    else if (path !== "") {
      const target = await readTarget(
        transaction,
        required(holds),
        resourceId,
        definition,
        path,
        mapEntry(field, name),
      );
      if (typeof target === "string") fail(name, target);
      else found.push([name, { project_id: target.project_id, id: target.id }]);
    } else if (definition.required === true) fail(name, "is required by the operation");
    else found.push([name, null]);
  }
  for (const { name, required: isRequired = false } of references) {
    if (isRequired && !Object.hasOwn(given, name)) fail(name, "is required by the operation");
  }
  if (violations.length > 0) throw invalidFields(violations);
  return Object.fromEntries(found);
}

function accepted(references: readonly StoredReference[]): string {
  return references.length === 0
    ? "the operation takes none"
    : `the operation takes ${references.map(({ name }) => name).join(", ")}`;
}

/** Returns a resource that can be used, or else what is wrong with it. */
async function readTarget(
  transaction: OrgTransaction,
  holds: Holds,
  resourceId: string,
  { typePath }: StoredReference,
  text: string,
  field: string,
): Promise<InfrastructureRow | string> {
  const { db, org } = transaction;
  const written = parseResourcePath(patterns.Resource, text, field, "above-id");
  const target = await findRow(db, infrastructureDefinition, written);
  const missing = `there is no resource ${text} that the caller may read`;
  if (target === undefined) return missing;
  const path = decisionPath(target, required(written.at(-1)));
  if (!(await mayReadResource(holds, target, path))) return missing;
  if (target.org_id !== org.id) return "must be in the same org";
  const type = resourceTypePath({ service_name: target.service_name, name: target.type_name });
  if (type !== typePath) return `must be a resource of the type ${typePath}, and is one of ${type}`;
  await requireUse(holds, target, path, field);
  const state = stateOf(target);
  if (!usableStates.includes(state)) return `is ${state}: must be ${usableStates.join(", ")}`;
  if (await isBeingUndeleted(db, target)) return "is being undeleted: must be ACTIVE, which it is when that succeeds";
  // It is to be deleted, which what uses it would prevent.
  if (target.project_delete_time !== null) return "is in a project that is DELETED";
  return (await depthProblem(db, org.id, resourceId, target.id)) ?? target;
}

/**
 * Checks that the author of a request may use a resource that it may read. What uses a resource keeps it from being deleted, and
 * gets what is in it, so reading it is not enough.
 *
 * @throws ServiceError PERMISSION_DENIED
 */
async function requireUse(holds: Holds, target: InfrastructureRow, path: AnyPath, field: string): Promise<void> {
  const permission = `${target.service_name}.${target.collection}.use`;
  if (await holds(permission, path)) return;
  const resource = resourcePath(target);
  const message = `${field}: the caller lacks the permission ${permission} on ${resource}, which it may read but not use`;
  throw new ServiceError("PERMISSION_DENIED", message, { metadata: { permission, resource } });
}

/** Reports whether a resource is DELETED again if the operation that is changing it fails or is cancelled. */
async function isBeingUndeleted(
  db: Transaction<Schema>,
  { org_id: orgId, state, operation_id: id }: InfrastructureRow,
): Promise<boolean> {
  if (state !== "UPDATING" || id === null) return false;
  return (await readPriorState(db, { org_id: orgId, id })) === "DELETED";
}

/** Returns why a resource cannot use another one, because of what that one uses; undefined if it can. */
async function depthProblem(
  db: Transaction<Schema>,
  orgId: string,
  resourceId: string,
  targetId: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ depth: number; refers_back: boolean }>`
    with recursive used (id, depth) as (
      select ${targetId}::uuid, 1
      union
      select target_id, depth + 1 from used
      join resource_references on org_id = ${orgId} and resource_id = used.id
      where depth <= ${maxDepth}
    )
    select max(depth) as depth, bool_or(id = ${resourceId}) as refers_back from used`.execute(db);
  const [row] = rows;
  if (row?.refers_back === true) return "uses the resource itself, directly or by others";
  return (row?.depth ?? 0) > maxDepth ? `uses others that use others; at most ${maxDepth} references deep` : undefined;
}

/** Keeps what an operation wants its resource to use from being deleted, in addition to what the resource uses. */
export async function holdReferences(
  { db, org }: OrgTransaction,
  resourceId: string,
  wanted: ReferenceIds,
): Promise<void> {
  const ids = idsOf(wanted);
  if (ids.length === 0) return;
  await sql`
    insert into resource_references (customer_id, org_id, resource_id, target_id)
    select distinct ${org.customer_id}::uuid, ${org.id}::uuid, ${resourceId}::uuid, id from unnest(${ids}::uuid[]) as target (id)
    on conflict do nothing`.execute(db);
}

/**
 * Lets everything go that an operation held or its resource used, at the end of the operation, except what is kept.
 *
 * @param running the operations that go on changing the resource, and hold what they want it to use.
 */
export async function releaseReferences(
  { db, org }: OrgTransaction,
  { id, reference_ids: used }: Pick<InfrastructureRow, "id" | "reference_ids">,
  wanted: ReferenceIds,
  kept: ReferenceIds,
  running: readonly string[] = [],
): Promise<void> {
  if (Object.keys(used).length === 0 && Object.keys(wanted).length === 0) return;
  const ids = idsOf(kept);
  await sql`
    delete from resource_references
    where ${isInOrgOf("resource_references", org)} and resource_id = ${id} and target_id <> all (${ids}::uuid[])
      and not exists (
        select from operations cross join jsonb_each(operations.reference_ids) as held
        where ${isInOrgOf("operations", org)} and operations.id = any (${running}::uuid[])
          and held.value ->> 'id' = target_id::text
      )`.execute(db);
}

const idsOf = (references: ReferenceIds): string[] =>
  Object.values(references).flatMap((reference) => (reference === null ? [] : [reference.id]));

export function mergeReferences(
  before: Readonly<Record<string, ReferencedId>>,
  changed: ReferenceIds,
): Record<string, ReferencedId> {
  const merged = Object.entries({ ...before, ...changed });
  return Object.fromEntries(merged.filter((entry): entry is [string, ReferencedId] => entry[1] !== null));
}

/**
 * @throws ServiceError RESOURCE_IN_USE that names a resource that uses this one, if the author of the request may read that one;
 *   otherwise the project that it is in, if the author may get that.
 */
export async function requireUnreferenced(
  transaction: OrgTransaction,
  authorHolds: AuthorHolds,
  row: InfrastructureRow,
): Promise<void> {
  const { db, org } = transaction;
  const user = await db
    .selectFrom("resource_references")
    .select("resource_id")
    .where(isInOrgOf("resource_references", org))
    .where("target_id", "=", row.id)
    .limit(1)
    .executeTakeFirst();
  if (user === undefined) return;
  const [using] = await readByKeys(db, infrastructureDefinition, [{ org_id: org.id, id: user.resource_id }]);
  const path = resourcePath(row);
  const holds = await authorHolds.now(transaction);
  if (using === undefined || !(await mayReadRow(holds, using))) {
    const project = using && (await readableProject(holds, using));
    const [where, whom] =
      project === undefined
        ? ["", `an owner of the org ${formatPath(patterns.Org, orgPathName(row))}, who can read it,`]
        : [` in the project ${project}`, "somebody who may change what is in that project"];
    const message = `the resource ${path} is used by a resource${where} that the caller may not read: ask ${whom} to let it go`;
    throw new ServiceError("RESOURCE_IN_USE", message, { metadata: { resource: path, ...(project && { project }) } });
  }
  const usedBy = resourcePath(using);
  const remedy = using.delete_time === null ? "delete that first, or let it use another one" : "purge that first";
  const message = `the resource ${path} is used by ${usedBy}: ${remedy}`;
  throw new ServiceError("RESOURCE_IN_USE", message, { metadata: { resource: path, used_by: usedBy } });
}

/** Returns the path of the project of a resource, if the author of a request may get it. */
async function readableProject(holds: Holds, row: InfrastructureRow): Promise<string | undefined> {
  return (await holds("iam.projects.get", projectOf(row)))
    ? formatPath(patterns.Project, ...placeNames(row))
    : undefined;
}
