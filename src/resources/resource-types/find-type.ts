import { type Kysely, type RawBuilder, type Transaction, sql } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { Schema } from "../../database/schema.ts";
import { type StatementTemplate, createStatementTemplate } from "../../database/statement-template.ts";
import { required } from "../../errors/required.ts";
import type { ProjectRow } from "../../iam/projects/store.ts";
import { invalidField } from "../../errors/service-error.ts";
import { patterns } from "../../paths/patterns.ts";
import { type Reference, parseResourcePath } from "../../paths/parse-path.ts";
import { matchesPath, matchesReference, projectLevel } from "../../database/match-reference.ts";
import { levelsOf } from "../../standard-methods/definition/definition.ts";
import type { VariableKinds } from "../operations/read-variables.ts";
import { resourceTypeDefinition } from "./definition.ts";
import { type ResourceTypeRow, selectResourceTypes } from "./store.ts";

const levels = levelsOf(resourceTypeDefinition, resourceTypeDefinition.places[0]);

/**
 * Finds the ResourceType that a field of a request names, and locks it against its deletion until the transaction ends.
 *
 * @throws ServiceError PATH_INVALID, or FIELD_INVALID when there is no such type.
 */
export async function lockType(db: Transaction<Schema>, path: string, field: string): Promise<ResourceTypeRow> {
  const row = await selectLocked(db, parseResourcePath(patterns.ResourceType, path, field)).executeTakeFirst();
  return requireType(row, path, field);
}

/** The project in which a resource is to be created. */
type OpenedProject = Pick<ProjectRow, "org_id" | "id" | "name" | "state" | "changed_revision" | "delete_time">;

/** What the creation of a resource depends on. */
interface CreationContext {
  readonly type: ResourceTypeRow;
  /** The kinds of the variables of its operation `create`. */
  readonly kinds: VariableKinds;
  /** Undefined if there is no such project. */
  readonly project: OpenedProject | undefined;
}

/**
 * Does the same, and reads what the creation of a resource of the type depends on, all in one statement.
 *
 * @param project in the org with this id.
 */
export async function lockTypeIn(
  db: Transaction<Schema>,
  orgId: string,
  project: Reference,
  path: string,
  field: string,
): Promise<CreationContext> {
  const references = parseResourcePath(patterns.ResourceType, path, field);
  const shape = [project, ...references];
  const key = shape.map(({ by }) => by).join(" ");
  const statement = statements.get(key) ?? createLockIn(shape);
  statements.set(key, statement);
  const values = shape.map((reference) => (reference.by === "any" ? null : reference.value));
  const { rows } = await db.executeQuery(statement(db, [orgId, ...values]));
  const [found] = rows;
  const {
    project_id: id,
    project_name: name,
    project_state: state,
    project_revision: revision,
    project_delete_time: deleteTime,
    steps,
    grades,
    ...type
  } = requireType(found, path, field);
  const kinds = { steps, grades } as VariableKinds;
  if (id === null || name === null || state === null || revision === null) return { type, kinds, project: undefined };
  const row = { org_id: orgId, id, name, state, changed_revision: revision, delete_time: deleteTime };
  return { type, kinds, project: row };
}

type Found = ResourceTypeRow & {
  readonly [column in "id" | "name" | "state" | "revision" as `project_${column}`]: string | null;
} & { readonly project_state: ProjectRow["state"] | null; readonly project_delete_time: Date | null } & Readonly<
    Record<"steps" | "grades", object>
  >;

/** By how the project, the service and the type are named. */
const statements = new Map<string, StatementTemplate<Found>>();

function createLockIn(shape: readonly Reference[]): StatementTemplate<Found> {
  return createStatementTemplate(1 + shape.length, (db, [orgId, ...values]) => {
    const [project, ...type] = shape.map(({ by }, index) => ({ by, value: values[index] }) as Reference);
    return selectLocked(db, type)
      .leftJoin("projects", (join) =>
        join.on("projects.org_id", "=", sql<string>`${orgId}`).on(matchesReference(projectLevel, required(project))),
      )
      .select([
        "projects.id as project_id",
        "projects.name as project_name",
        "projects.state as project_state",
        "projects.changed_revision as project_revision",
        "projects.delete_time as project_delete_time",
        kindsOfCreate("quantities", "quantity_kinds", sql`step::text`).as("steps"),
        kindsOfCreate("qualities", "quality_kinds", sql`highest_grade`).as("grades"),
      ])
      .compile();
  });
}

/** The values of the kinds that variables of the operation `create` have, by the names of the kinds. */
function kindsOfCreate(
  list: "quantities" | "qualities",
  table: "quantity_kinds" | "quality_kinds",
  value: RawBuilder<unknown>,
): RawBuilder<object> {
  return sql`(
    select coalesce(jsonb_object_agg(name, ${value}), '{}') from ${sql.table(table)} where name in (
      select variable ->> 'kind'
      from jsonb_array_elements(resource_types.operations) as operation,
        jsonb_array_elements(operation -> ${sql.lit(list)}) as variable
      where operation ->> 'verb' = 'create'
    )
  )`;
}

function selectLocked(db: Kysely<Schema>, references: readonly Reference[]) {
  return selectResourceTypes(db)
    .where(matchesPath(levels, references))
    .modifyEnd(sql`for key share of resource_types`);
}

function requireType<Row>(row: Row | undefined, path: string, field: string): Row {
  if (row === undefined) throw invalidField(field, `names no resource type: ${path}`, "type");
  return row;
}

export function readType(db: Transaction<Schema>, id: string): Promise<ResourceTypeRow> {
  return selectResourceTypes(db).where("resource_types.id", "=", id).executeTakeFirstOrThrow();
}

/** Does the same, once for the writes that share a transaction. */
export function readTypeOnce({ db, readOnce }: OrgTransaction, id: string): Promise<ResourceTypeRow> {
  return readOnce(`type ${id}`, () => readType(db, id));
}

/** Whether deleted resources of a type can be restored until they are purged. */
export function allowsUndelete({ operations }: ResourceTypeRow): boolean {
  return operations.some(({ verb }) => verb === "undelete");
}
