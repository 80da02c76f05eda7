// The first start creates what everything else needs: the customer and org `system`, in it the operator, who holds every
// permission, and the operator's first API key.
import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { apiKeyDefinition } from "../iam/api-keys/definition.ts";
import { serviceAuthor } from "../changes/author.ts";
import { firstRevision } from "../changes/revision.ts";
import { beginLog, inTransaction, writeInOrg } from "../changes/write-in-org.ts";
import type { Database } from "../database/database.ts";
import { createApiKey } from "../identity/api-key.ts";
import type { Installation } from "../identity/installation.ts";
import { memberDefinition } from "../iam/members/definition.ts";
import { insertCustomer, insertOrg } from "../iam/orgs/create-org.ts";
import { orgDefinition } from "../iam/orgs/definition.ts";
import { joinedOrgColumns } from "../standard-methods/named-fields.ts";
import { required } from "../errors/required.ts";
import { findRow } from "../standard-methods/read/row-reader.ts";
import { changeOf } from "../standard-methods/write/append-change.ts";
import { roleBindingDefinition } from "../iam/role-bindings/definition.ts";
import type { WriteTransaction } from "../database/write-transaction.ts";
import { readClock } from "../database/clock.ts";
import { openCommandLineClient } from "./command-line-client.ts";
import { insertOne } from "./insert-one.ts";

/** Saves the operator's first API key where people can find it. Called before the key becomes valid, so that it is never lost. */
export type SaveOperatorKey = (secret: string) => Promise<void>;

const author = serviceAuthor("tenantry/installation");

/** Returns the installation. Creates it if the database is new. */
export function openInstallation(database: Database, saveOperatorKey: SaveOperatorKey): Promise<Installation> {
  return inTransaction(database, async (db) => {
    // Servers that start at once on an empty database create one installation. There is no row yet that they could lock.
    await sql`lock table installation in share row exclusive mode`.execute(db);
    const founded = (await readFounded(db)) ?? (await createInstallation(db, saveOperatorKey));
    await makeOperatorOwner(db, founded);
    return { ...founded, commandLineClientId: await openCommandLineClient(db, founded.systemOrgId, author) };
  });
}

/** Creates another API key for the operator, for when the others are lost, and returns its secret. */
export function renewOperatorKey(database: Database, installation: Installation, name: string): Promise<string> {
  return inTransaction(database, (db) => addOperatorKey(db, installation, name));
}

/** What the first start creates. */
type Founded = Omit<Installation, "commandLineClientId">;

async function readFounded(db: WriteTransaction): Promise<Founded | undefined> {
  const row = await db.selectFrom("installation").selectAll().executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    systemOrgId: row.system_org_id,
    operatorId: row.operator_id,
    pageTokenKey: row.page_token_key,
  };
}

async function createInstallation(db: WriteTransaction, saveOperatorKey: SaveOperatorKey): Promise<Founded> {
  const system = named("system", "System", "Contains the operator of this installation.");
  const customer = await insertCustomer(db, system, author);
  const [revision, time] = [firstRevision(), await readClock(db)];
  const org = await insertOrg(db, customer, system, { revision, time });
  await beginLog(db, { org, revision, time }, author, [changeOf(orgDefinition, null, org)]);
  const operator = named("operator", "Operator", "Holds every permission.");
  const operatorId = await writeInOrg(db, { org: { by: "id", value: org.id } }, author, async (transaction) => {
    const columns = { type: "APPLICATION", state: "ACTIVE" } as const;
    const row = await insertOne(transaction, memberDefinition, operator, columns, joinedOrgColumns(transaction));
    return row.id;
  });
  const installation = { systemOrgId: org.id, operatorId, pageTokenKey: randomBytes(32) };
  await saveOperatorKey(await addOperatorKey(db, installation, "first"));
  await db
    .insertInto("installation")
    .values({
      system_org_id: org.id,
      operator_id: operatorId,
      page_token_key: installation.pageTokenKey,
    })
    .execute();
  return installation;
}

/** Makes the operator an owner of the platform, also in an installation that is older than roles or has lost the binding. */
async function makeOperatorOwner(db: WriteTransaction, { systemOrgId, operatorId }: Founded): Promise<void> {
  const { rows } = await sql`
    select from role_bindings where org_id = ${systemOrgId} and member_id = ${operatorId} and scope_type = 'PLATFORM'
      and predefined_role = 'owner' and condition = '' and start_time is null and expire_time is null`.execute(db);
  if (rows.length > 0) return;
  await writeInOrg(db, { org: { by: "id", value: systemOrgId } }, author, async (transaction) => {
    const fields = named(`operator-${randomBytes(6).toString("hex")}`, "Operator", "Lets the operator do everything.");
    const columns = { member_id: operatorId, predefined_role: "owner", scope_type: "PLATFORM", condition: "" } as const;
    await insertOne(transaction, roleBindingDefinition, fields, columns);
  });
}

async function addOperatorKey(
  db: WriteTransaction,
  { systemOrgId, operatorId }: Founded,
  name: string,
): Promise<string> {
  return writeInOrg(db, { org: { by: "id", value: systemOrgId } }, author, async (transaction) => {
    const path = [
      { by: "id", value: systemOrgId },
      { by: "id", value: operatorId },
    ] as const;
    const operator = required(await findRow(db, memberDefinition, path));
    const { secret, prefix, hash } = createApiKey();
    const fields = named(name, `Operator key ${prefix}`, "");
    const columns = { member_id: operatorId, prefix, hash, expire_time: null };
    const names = { member_name: operator.name, member_delete_time: operator.delete_time };
    await insertOne(transaction, apiKeyDefinition, fields, columns, { ...joinedOrgColumns(transaction), ...names });
    return secret;
  });
}

function named(name: string, displayName: string, description: string) {
  return { name, displayName, description, labels: {} };
}
