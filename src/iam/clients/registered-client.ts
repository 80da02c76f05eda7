// Registered clients, as the OAuth endpoints know them: by their id alone.
import { type Kysely, sql } from "kysely";
import type { Schema } from "../../database/schema.ts";
import { hashApiKey, isSameHash } from "../../identity/api-key.ts";
import { clockMs } from "../../database/clock.ts";

export interface RegisteredClient {
  readonly id: string;
  readonly org_id: string;
  readonly org_name: string;
  readonly org_display_name: string;
  readonly display_name: string;
  readonly redirect_uris: readonly string[];
  readonly confidential: boolean;
  /** The scopes for which it may ask; null for all. */
  readonly scopes: readonly string[] | null;
  readonly secret_hash: Buffer | null;
  /** Null when it has ended. */
  readonly previous_secret_hash: Buffer | null;
  /** The database's clock, in milliseconds. */
  readonly now: number;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Reports whether a client id has the form of that of a registered client. Those of API keys are their prefixes. */
export function isRegisteredId(id: string): boolean {
  return uuid.test(id);
}

/** Returns a client in an active org; undefined if there is none with this id. */
export async function findRegisteredClient(db: Kysely<Schema>, id: string): Promise<RegisteredClient | undefined> {
  if (!isRegisteredId(id)) return undefined;
  const { rows } = await sql<RegisteredClient & { previous_secret_expire_time: Date | null }>`
    select clients.id, clients.org_id, orgs.name as org_name, orgs.display_name as org_display_name, clients.display_name,
      clients.redirect_uris, clients.confidential, clients.scopes, clients.secret_hash,
      clients.previous_secret_hash, clients.previous_secret_expire_time, ${clockMs} as now
    from clients join orgs on orgs.customer_id = clients.customer_id and orgs.id = clients.org_id
    where clients.id = ${id} and orgs.delete_time is null and orgs.state = 'ACTIVE'`.execute(db);
  const [found] = rows;
  if (found === undefined) return undefined;
  const { previous_secret_expire_time: end, previous_secret_hash: previous, ...client } = found;
  return { ...client, previous_secret_hash: end !== null && end.getTime() > client.now ? previous : null };
}

export function isSecretOf({ secret_hash, previous_secret_hash }: RegisteredClient, secret: string): boolean {
  const given = hashApiKey(secret);
  return [secret_hash, previous_secret_hash].some((own) => own !== null && isSameHash(own, given));
}
