// The OAuth client of the org `system` with which the command line signs people in (RFC 8252). Each installation has it from its first
// start on. An operator who deletes it takes away the sign-in of the command line: it is not created again.
import { randomBytes } from "node:crypto";
import type { Author } from "../changes/author.ts";
import { writeInOrg } from "../changes/write-in-org.ts";
import type { WriteTransaction } from "../database/write-transaction.ts";
import { clientDefinition } from "../iam/clients/definition.ts";
import { insertOne } from "./insert-one.ts";

const name = "command-line";

/** Creates the client, unless that was done before. Returns its id. */
export async function openCommandLineClient(
  db: WriteTransaction,
  systemOrgId: string,
  author: Author,
): Promise<string> {
  const row = await db.selectFrom("installation").select("command_line_client_id").executeTakeFirstOrThrow();
  if (row.command_line_client_id !== null) return row.command_line_client_id;
  const id = await writeInOrg(db, { org: { by: "id", value: systemOrgId } }, author, async (transaction) => {
    const taken = await db
      .selectFrom("clients")
      .select("id")
      .where("org_id", "=", systemOrgId)
      .where("name", "=", name)
      .execute();
    const fields = {
      name: taken.length === 0 ? name : `${name}-${randomBytes(6).toString("hex")}`,
      displayName: "Tenantry command line",
      description: "Signs people in at the terminal. Without it, tenantry login takes API keys only.",
      labels: {},
    };
    const columns = {
      // A request may name any port of it.
      redirect_uris: ["http://127.0.0.1/callback"],
      scopes: null,
      confidential: false,
      secret_hash: null,
      previous_secret_hash: null,
      previous_secret_expire_time: null,
    };
    const client = await insertOne(transaction, clientDefinition, fields, columns);
    return client.id;
  });
  await db.updateTable("installation").set({ command_line_client_id: id }).execute();
  return id;
}
