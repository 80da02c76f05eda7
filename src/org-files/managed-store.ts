// Which resources of an org files manage. Only applies write this.
import { type Kysely, sql } from "kysely";
import type { Schema } from "../database/schema.ts";
import type { WriteTransaction } from "../database/write-transaction.ts";

export interface ManagedRow {
  readonly pathHash: Buffer;
  readonly contentHash: Buffer;
  readonly identityHash: Buffer;
}

export interface Source {
  readonly address: string;
  readonly version: string;
}

/** Returns the rows of an org; `source` is the address. */
export async function readManagedRows(db: Kysely<Schema>, orgId: string) {
  return db
    .selectFrom("managed_resources")
    .select(["path_hash", "content_hash", "identity_hash", "source", "version"])
    .where("org_id", "=", orgId)
    .execute();
}

/** Lets a source manage resources. They must be of the locked org. */
export async function putManagedRows(
  db: WriteTransaction,
  org: { readonly id: string; readonly customer_id: string },
  rows: readonly ManagedRow[],
  { address, version }: Source,
): Promise<void> {
  if (rows.length === 0) return;
  const paths = rows.map(({ pathHash }) => pathHash);
  const contents = rows.map(({ contentHash }) => contentHash);
  const identities = rows.map(({ identityHash }) => identityHash);
  await sql`
    insert into managed_resources (customer_id, org_id, path_hash, content_hash, identity_hash, source, version)
    select ${org.customer_id}, ${org.id}, path_hash, content_hash, identity_hash, ${address}, ${version}
    from unnest(${paths}::bytea[], ${contents}::bytea[], ${identities}::bytea[])
      as given (path_hash, content_hash, identity_hash)
    on conflict on constraint managed_resources_pkey do update
    set content_hash = excluded.content_hash, identity_hash = excluded.identity_hash, source = excluded.source,
      version = excluded.version`.execute(db);
}

/** Forgets who managed resources that are not there any more, by the hashes of their paths in hex. */
export async function removeManagedRows(
  db: WriteTransaction,
  org: { readonly id: string; readonly customer_id: string },
  pathHashes: readonly string[],
): Promise<void> {
  if (pathHashes.length === 0) return;
  const hashes = pathHashes.map((hash) => Buffer.from(hash, "hex"));
  await sql`
    delete from managed_resources
    where org_id = ${org.id} and customer_id = ${org.customer_id} and path_hash = any(${hashes}::bytea[])`.execute(db);
}
