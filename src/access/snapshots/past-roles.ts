// What the predefined roles were: they come with the version of the service, so each server notes those that it has when it starts.
import { type Kysely, sql } from "kysely";
import type { Logger } from "pino";
import { readClock, timeText } from "../../database/clock.ts";
import type { Database } from "../../database/database.ts";
import type { Schema } from "../../database/schema.ts";
import type { PredefinedRoles, RolePermissions } from "../engine/tables/role-table.ts";

/** What the predefined roles were at a time. */
interface RolesOfTime {
  /** The same for the same roles. */
  readonly version: string;
  readonly roles: PredefinedRoles;
}

/**
 * Returns the predefined roles of a time, in milliseconds. Before the first ones that were noted, there are those; if none were, those of
 * this server.
 */
export type RolesAt = (time: number) => Promise<RolesOfTime>;

type Permissions = RolePermissions["permissions"];

/** How many versions are kept in memory. */
const maxKept = 8;

export function createRolesAt({ reads }: Pick<Database, "reads">, current: PredefinedRoles): RolesAt {
  /** In the order of last use. */
  const kept = new Map<string, RolesOfTime>();
  return async (time) => {
    const version = await findVersion(reads, time);
    if (version === undefined) return { version: "", roles: current };
    const found = kept.get(version) ?? { version, roles: await readRoles(reads, version, current) };
    kept.delete(version);
    kept.set(version, found);
    for (const oldest of kept.keys()) if (kept.size > maxKept) kept.delete(oldest);
    return found;
  };
}

async function findVersion(db: Kysely<Schema>, time: number): Promise<string | undefined> {
  const asked = sql`${new Date(time).toISOString()}::timestamptz`;
  const { rows } = await sql<{ version: string }>`
    select ${timeText(sql`time`)} as version from past_roles
    order by time <= ${asked} desc, abs(extract(epoch from time - ${asked})) limit 1`.execute(db);
  return rows[0]?.version;
}

async function readRoles(db: Kysely<Schema>, version: string, current: PredefinedRoles): Promise<PredefinedRoles> {
  const { rows } = await sql<{ permissions: Readonly<Record<string, Permissions>> }>`
    select permissions from past_roles where time = ${version}::timestamptz`.execute(db);
  const [noted] = rows;
  if (noted === undefined) return current;
  return Object.fromEntries(Object.entries(noted.permissions).map(([name, permissions]) => [name, { permissions }]));
}

/** Notes the predefined roles of this server, if they are not those that were noted last. */
export async function notePredefinedRoles(
  { writes }: Pick<Database, "writes">,
  roles: readonly (RolePermissions & { readonly name: string })[],
  logger: Pick<Logger, "warn">,
): Promise<void> {
  const permissions = JSON.stringify(
    Object.fromEntries(
      roles.map((role) => [role.name, role.permissions === "*" ? role.permissions : role.permissions.toSorted()]),
    ),
  );
  try {
    const now = await readClock(writes);
    await sql`
      insert into past_roles (time, permissions) select ${now}::timestamptz, ${permissions}::jsonb
      where ${permissions}::jsonb is distinct from (select permissions from past_roles order by time desc limit 1)
      on conflict do nothing`.execute(writes);
  } catch (err) {
    logger.warn({ err }, "failed to note the predefined roles; the next start does");
  }
}
