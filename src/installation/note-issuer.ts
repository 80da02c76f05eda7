import { sql } from "kysely";
import type { Logger } from "pino";
import type { Database } from "../database/database.ts";

/**
 * Records what issues the tokens of this server, and warns if the server that has started before had another issuer: each of the two
 * refuses the tokens of the other. It is no error, because servers get a new issuer one after the other. Never rejects: a server that
 * cannot say so serves.
 */
export async function noteIssuer(
  { writes }: Pick<Database, "writes">,
  issuer: string,
  logger: Pick<Logger, "warn">,
): Promise<void> {
  try {
    const before = await replaceIssuer(writes, issuer);
    if (before !== null) logger.warn({ issuer, before }, sentenceOf(issuer, before));
  } catch (err) {
    logger.warn({ err }, "failed to note the issuer of this server for those that start later");
  }
}

/** Returns the issuer from before; null if there was none, or it is the same. */
async function replaceIssuer(writes: Database["writes"], issuer: string): Promise<string | null> {
  const { rows } = await sql<{ issuer: string | null }>`
    with known as materialized (select issuer from installation for update)
    update installation set issuer = ${issuer} from known
    where known.issuer is distinct from ${issuer} returning known.issuer`.execute(writes);
  return rows[0]?.issuer ?? null;
}

function sentenceOf(issuer: string, before: string): string {
  return `this server issues tokens as ${issuer}, and the server that started before on this database as ${before}: each refuses the tokens of the other. Set TENANTRY_ISSUER to the same URL on all servers; by default it has the port`;
}
