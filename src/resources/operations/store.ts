import { type InferResult, type Insertable, type Kysely, type Transaction, sql } from "kysely";
import { type OrgKey, isInOrgOf } from "../../database/org-key.ts";
import type { Author } from "../../changes/author.ts";
import { columnsOf, pathColumns, versionColumns } from "../../database/columns.ts";
import type { Operations, Schema } from "../../database/schema.ts";
import { createStatementTemplate } from "../../database/statement-template.ts";
import type { WriteTransaction } from "../../database/write-transaction.ts";

export type OperationRow = InferResult<ReturnType<typeof selectOperations>>[number];

/** How often an operation is attempted at most. */
export const maxAttempts = 10;

type Actor = Pick<OperationRow, "actor_org_name" | "actor_org_delete_time" | "actor_name" | "actor_delete_time">;

export const operationColumns = [
  "org_id",
  "project_id",
  "id",
  "resource_id",
  "service_id",
  "type_id",
  "routing_key",
  "verb",
  "is_concurrent",
  "prior_state",
  "state",
  "quantities",
  "given_quantities",
  "qualities",
  "given_qualities",
  "outputs",
  "reference_ids",
  "progress_percent",
  "progress_message",
  "cancel_requested",
  "error_reason",
  "error_message",
  "actor_org_id",
  "actor_id",
  "end_time",
  ...versionColumns,
] as const;

/** Selects all operations, with the columns that paths need. The resource, its type and the actor may no longer exist. */
export function selectOperations(db: Kysely<Schema>) {
  return db
    .selectFrom("orgs")
    .innerJoin("projects", (join) =>
      join.onRef("projects.customer_id", "=", "orgs.customer_id").onRef("projects.org_id", "=", "orgs.id"),
    )
    .innerJoin("operations", (join) =>
      join
        .onRef("operations.customer_id", "=", "projects.customer_id")
        .onRef("operations.org_id", "=", "projects.org_id")
        .onRef("operations.project_id", "=", "projects.id"),
    )
    .leftJoin("resources", (join) =>
      join
        .onRef("resources.customer_id", "=", "operations.customer_id")
        .onRef("resources.org_id", "=", "operations.org_id")
        .onRef("resources.id", "=", "operations.resource_id"),
    )
    .leftJoin("resource_types", "resource_types.id", "operations.type_id")
    .leftJoin("services", "services.id", "operations.service_id")
    .leftJoin("orgs as actor_orgs", "actor_orgs.id", "operations.actor_org_id")
    .leftJoin("members as actors", (join) =>
      join
        .onRef("actors.customer_id", "=", "actor_orgs.customer_id")
        .onRef("actors.org_id", "=", "actor_orgs.id")
        .onRef("actors.id", "=", "operations.actor_id"),
    )
    .select(columnsOf("operations", operationColumns))
    .select([
      "operations.attempts",
      "operations.next_attempt_time",
      ...pathColumns.org,
      ...pathColumns.project,
      "resources.name as resource_name",
      "resources.delete_time as resource_delete_time",
      "resource_types.name as type_name",
      "resource_types.collection",
      "services.name as service_name",
      "actor_orgs.name as actor_org_name",
      "actor_orgs.delete_time as actor_org_delete_time",
      "actors.name as actor_name",
      "actors.delete_time as actor_delete_time",
    ]);
}

/**
 * Inserts an operation, together with the next statement.
 *
 * @param time when it was created.
 */
export function insertOperation(
  db: WriteTransaction,
  time: string,
  operation: Required<
    Omit<Insertable<Operations>, "claim_token" | "attempts" | "next_attempt_time" | "create_time" | "update_time">
  >,
): void {
  const row: Readonly<Record<string, unknown>> = { ...operation, create_time: time, update_time: time };
  const values = insertedColumns.map((column) => row[column]);
  db.sendWithNext(insertStatement(db, values));
}

const insertedColumns = ["customer_id", ...operationColumns] as const;

const insertStatement = createStatementTemplate(insertedColumns.length, (db, values) => {
  const row = Object.fromEntries(insertedColumns.map((column, index) => [column, values[index]]));
  return db
    .insertInto("operations")
    .values(row as unknown as Insertable<Operations>)
    .compile();
});

/** The names of the author of an operation, and when the org and the member were deleted; null for the service itself. */
export async function readActor(
  db: Transaction<Schema>,
  { actorOrgId, actorId }: Pick<Author, "actorOrgId" | "actorId">,
): Promise<Actor> {
  const found = actorOrgId === null ? undefined : await db.executeQuery(actorStatement(db, [actorOrgId, actorId]));
  return (
    found?.rows[0] ?? { actor_org_name: null, actor_org_delete_time: null, actor_name: null, actor_delete_time: null }
  );
}

const actorStatement = createStatementTemplate<Actor>(2, (db, [orgId, id]) =>
  db
    .selectFrom("orgs")
    .leftJoin("members", (join) =>
      join
        .onRef("members.customer_id", "=", "orgs.customer_id")
        .onRef("members.org_id", "=", "orgs.id")
        .on("members.id", "=", sql<string>`${id}`),
    )
    .select(["orgs.name as actor_org_name", "orgs.delete_time as actor_org_delete_time"])
    .select(["members.name as actor_name", "members.delete_time as actor_delete_time"])
    .where("orgs.id", "=", sql<string>`${orgId}`)
    .compile(),
);

/** Returns the state that the resource of a running operation gets back if the operation fails. */
export async function readPriorState(
  db: Transaction<Schema>,
  { org_id: orgId, id }: Pick<OperationRow, "org_id" | "id">,
): Promise<OperationRow["prior_state"]> {
  const { prior_state: state } = await db
    .selectFrom("operations")
    .select("prior_state")
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return state;
}

/** Sets the state that the resource of running operations gets back if all of them fail. */
export async function setPriorState(
  db: Transaction<Schema>,
  org: OrgKey,
  ids: readonly string[],
  state: OperationRow["prior_state"],
): Promise<void> {
  await sql`
    update operations set prior_state = ${state}
    where ${isInOrgOf("operations", org)} and id = any (${ids}::uuid[]) and prior_state is distinct from ${state}`.execute(
    db,
  );
}
