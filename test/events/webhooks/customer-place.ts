// A server that delivers to receivers on this machine, with a customer of two orgs, and an owner of the customer.
import { expect, onTestFinished } from "vitest";
import type { Org } from "../../../gen/iam/v1alpha/org_pb.ts";
import type { Webhook, Webhook_Format } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import { type Caller, type Company, openCompany } from "../../access/callers.ts";
import { uniqueName } from "../../support/api.ts";
import { type SqlClient, openSqlClient } from "../../support/sql.ts";
import { type TestServer, startTestServer } from "../../support/test-server.ts";
import { endWait, stopRetries } from "../deliveries/waits.ts";
import { onlyGroups } from "./place.ts";
import { type Receiver, webhookNetworks } from "./receiver.ts";

export interface CustomerPlace {
  readonly server: TestServer;
  readonly company: Company;
  readonly customerPath: string;
  /** With the role owner on the customer. */
  readonly owner: Caller;
  readonly orgs: readonly [Org, Org];
  readonly sql: SqlClient;
  createOrg(): Promise<Org>;
  /** Creates a webhook of the customer, which is removed when the test ends. By default, it delivers changes of groups. */
  createWebhook(
    receiver: Pick<Receiver, "url">,
    fields?: { readonly filter?: string; readonly format?: Webhook_Format; readonly holdRetention?: boolean },
  ): Promise<Webhook>;
  /** Creates a group in an org. Returns its path. */
  createGroup(org: Pick<Org, "path">): Promise<string>;
  /** Lets the time pass after which a receiver that fails is tried again, with any log. */
  passWait(webhook: Webhook): Promise<void>;
  /** Lets so many days pass since a receiver began to fail, and the wait. */
  passDays(webhook: Webhook, days: number): Promise<void>;
  close(): Promise<void>;
}

export async function openCustomerPlace(): Promise<CustomerPlace> {
  const server = await startTestServer({ webhookNetworks, purgeIntervalMs: 100 });
  const company = await openCompany("gRPC", server);
  const { customerPath } = company.org;
  const createOrg = () => company.api.orgs.createOrg({ org: { name: uniqueName("acme"), customerPath } });
  const owner = await company.join("owner");
  await company.bind(customerPath, "owner", owner);
  const orgs = [company.org, await createOrg()] as const;
  const sql = await openSqlClient(server.databaseUrl);
  await stopRetries(sql, "webhooks");
  await stopRetries(sql, "webhook_logs");

  // The server looks again when it has written something, or after some seconds.
  const passWait = async ({ id }: Webhook): Promise<void> => {
    await sql.query("update webhook_logs set next_attempt_time = 'epoch' where webhook_id = $1", [id]);
    await endWait(sql, "webhooks", id);
    await owner.members.updateMember({ path: owner.path, member: { description: uniqueName("wakes") } });
  };

  return {
    server,
    company,
    customerPath,
    owner,
    orgs,
    sql,
    createOrg,

    async createWebhook({ url }, fields = {}) {
      const webhook = { name: uniqueName("hook"), url, filter: onlyGroups, ...fields };
      const created = await owner.webhooks.createWebhook({ parentPath: customerPath, webhook });
      onTestFinished(async () => {
        await company.api.webhooks.deleteWebhook({ path: created.path, allowMissing: true });
      });
      return created;
    },

    async createGroup({ path: parentPath }) {
      const { path } = await owner.groups.createGroup({ parentPath, group: { name: uniqueName("group") } });
      return path;
    },

    passWait,

    async passDays(webhook, days) {
      // A try that is under way would record since when it has failed as it was before.
      const idle = "select from webhooks where id = $1 and failing_since is not null and lease_end <= now()";
      await expect.poll(() => sql.query(idle, [webhook.id])).toHaveLength(1);
      const shift = "set failing_since = failing_since - make_interval(days => $2)";
      await sql.query(`update webhook_logs ${shift} where webhook_id = $1`, [webhook.id, days]);
      await sql.query(`update webhooks ${shift} where id = $1`, [webhook.id, days]);
      await passWait(webhook);
    },

    async close() {
      await sql.close();
      await server.close();
    },
  };
}
