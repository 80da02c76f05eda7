import { sql } from "kysely";
import type { Logger } from "pino";
import type { Database } from "../database/database.ts";

/**
 * Records what issues the tokens of this server, and warns if the server that has started before had another issuer: each of the two
 * refuses the tokens of the other. It is no error, because servers get a new issuer one after the other.
 */
export async function noteIssuer(
  { writes }: Pick<Database, "writes">,
  issuer: string,
  logger: Pick<Logger, "warn">,
): Promise<void> {
  const { rows } = await sql<{ issuer: string | null }>`
    with known as materialized (select issuer from installation for update)
    update installation set issuer = ${issuer} from known
    where known.issuer is distinct from ${issuer} returning known.issuer`.execute(writes);
  const before = rows[0]?.issuer ?? null;
  if (before === null) return;
  logger.warn(
    { issuer, before },
    `this server issues tokens as ${issuer}, and the server that started before on this database as ${before}: each refuses the tokens of the other. Set TENANTRY_ISSUER to the same URL on all servers; by default it has the port`,
  );
}
