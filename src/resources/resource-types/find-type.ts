import type { Transaction } from "kysely";
import { sql } from "kysely";
import type { Schema } from "../../database/schema.ts";
import { invalidField } from "../../errors/service-error.ts";
import { patterns } from "../../paths/patterns.ts";
import { parseResourcePath } from "../../paths/parse-path.ts";
import { matchesPath } from "../../database/match-reference.ts";
import { levelsOf } from "../../standard-methods/definition/definition.ts";
import { resourceTypeDefinition } from "./definition.ts";
import { type ResourceTypeRow, selectResourceTypes } from "./store.ts";

const levels = levelsOf(resourceTypeDefinition, resourceTypeDefinition.places[0]);

/**
 * Finds the ResourceType that a field of a request names, and locks it against its deletion until the transaction ends.
 *
 * @throws ServiceError PATH_INVALID, or FIELD_INVALID when there is no such type.
 */
export async function lockType(db: Transaction<Schema>, path: string, field: string): Promise<ResourceTypeRow> {
  const references = parseResourcePath(patterns.ResourceType, path, field);
  const row = await selectResourceTypes(db)
    .where(matchesPath(levels, references))
    .modifyEnd(sql`for key share of resource_types`)
    .executeTakeFirst();
  if (row === undefined) throw invalidField(field, `names no resource type: ${path}`, "type");
  return row;
}

/** Returns the type of an existing resource. */
export function readType(db: Transaction<Schema>, id: string): Promise<ResourceTypeRow> {
  return selectResourceTypes(db).where("resource_types.id", "=", id).executeTakeFirstOrThrow();
}

/** Whether deleted resources of a type can be restored until they are purged. */
export function allowsUndelete({ operations }: ResourceTypeRow): boolean {
  return operations.some(({ verb }) => verb === "undelete");
}
