import { sql } from "kysely";
import type { AuthorHolds } from "../../access/evaluation/author-holds.ts";
import type { Author } from "../../changes/author.ts";
import type { Database } from "../../database/database.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import type { ResourceDefinition } from "../definition/definition.ts";
import { permissionToGet } from "../definition/method-permissions.ts";

interface Dependencies {
  readonly database: Database;
  readonly authorHolds: AuthorHolds;
}

/**
 * Returns RESOURCE_EXISTS that names the deleted resource by which a name is reserved.
 *
 * @returns undefined if no deleted resource reserves the name, or if the author may not get it: then the error must be the same
 * as for a name that a resource has.
 */
export async function explainReservedName(
  { database, authorHolds }: Dependencies,
  definition: ResourceDefinition,
  author: Author,
  name: string,
): Promise<ServiceError | undefined> {
  const { label, lifecycle, storage } = definition;
  if (lifecycle?.deletedNames !== "reserved") return undefined;
  // Not in the transaction of the write, which has failed.
  const { rows } = await sql<{ id: string }>`
    select id from ${sql.table(storage.table)} where name = ${name} and delete_time is not null`.execute(
    database.reads,
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  const { pattern } = definition.places[0];
  const references = [{ by: "id", value: row.id }] as const;
  if (!(await authorHolds(database.reads, author, permissionToGet(definition), { pattern, references })))
    return undefined;
  const path = formatReferences(pattern, references);
  const message = `the name ${JSON.stringify(name)} is reserved by the deleted ${label.one} ${path} until it is purged; choose another name, or undelete or purge that ${label.one}`;
  return new ServiceError("RESOURCE_EXISTS", message, { metadata: { name, resource: path } });
}
