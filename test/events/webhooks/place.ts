// A server that delivers to receivers on this machine, with an org, its owner, and the database.
import { expect, onTestFinished } from "vitest";
import type { Webhook, Webhook_Format, Webhook_Signature } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import { type Caller, type Company, openCompany } from "../../access/callers.ts";
import { uniqueName } from "../../support/api.ts";
import { type SqlClient, openSqlClient } from "../../support/sql.ts";
import { type TestServer, startTestServer } from "../../support/test-server.ts";
import { endWait, stopRetries } from "../deliveries/waits.ts";
import { type Received, type Receiver, webhookNetworks } from "./receiver.ts";

export interface WebhookPlace {
  readonly server: TestServer;
  readonly company: Company;
  readonly owner: Caller;
  readonly sql: SqlClient;
  /** Creates a webhook, which is removed when the test ends. By default, it delivers changes of groups. */
  createWebhook(receiver: Pick<Receiver, "url">, fields?: WebhookFields): Promise<Webhook>;
  /** Creates groups, one after the other. Returns their paths. */
  createGroups(count: number): Promise<string[]>;
  /** Creates groups in one revision. Returns their paths. */
  createGroupsTogether(count: number): Promise<string[]>;
  /** Lets the time pass after which a receiver that fails is tried again. */
  passWait(webhook: Webhook): Promise<void>;
  /** Lets so many days pass since the receiver began to fail, and the wait. */
  passDays(webhook: Webhook, days: number): Promise<void>;
  close(): Promise<void>;
}

interface WebhookFields {
  readonly url?: string;
  readonly filter?: string;
  readonly format?: Webhook_Format;
  readonly signature?: Webhook_Signature;
  readonly holdRetention?: boolean;
}

export const onlyGroups = 'resource_type = "Group"';

export async function openWebhookPlace(): Promise<WebhookPlace> {
  const server = await startTestServer({ webhookNetworks });
  const company = await openCompany("gRPC", server);
  const owner = await company.joinAs("owner");
  const sql = await openSqlClient(server.databaseUrl);
  await stopRetries(sql, "webhooks");
  const parentPath = company.org.path;

  // The server looks again when it has written something, or after some seconds.
  const passWait = async ({ id }: Webhook): Promise<void> => {
    await endWait(sql, "webhooks", id);
    await owner.members.updateMember({ path: owner.path, member: { description: uniqueName("wakes") } });
  };

  return {
    server,
    company,
    owner,
    sql,

    async createWebhook({ url }, fields = {}) {
      const webhook = { name: uniqueName("hook"), url, filter: onlyGroups, ...fields };
      const created = await owner.webhooks.createWebhook({ parentPath, webhook });
      onTestFinished(async () => {
        await company.api.webhooks.deleteWebhook({ path: created.path, allowMissing: true });
      });
      return created;
    },

    async createGroups(count) {
      const paths: string[] = [];
      for (let index = 0; index < count; index++) {
        const { path } = await owner.groups.createGroup({ parentPath, group: { name: uniqueName("group") } });
        paths.push(path);
      }
      return paths;
    },

    async createGroupsTogether(count) {
      const requests = Array.from({ length: count }, () => ({ group: { name: uniqueName("group") } }));
      const { groups } = await owner.groups.batchCreateGroups({ parentPath, requests });
      return groups.map(({ path }) => path);
    },

    passWait,

    async passDays(webhook, days) {
      // A try that is under way would record since when it has failed as it was before.
      const shift = `update webhooks set failing_since = failing_since - make_interval(days => $2)
        where id = $1 and failing_since is not null and lease_end <= now() returning id`;
      await expect.poll(() => sql.query(shift, [webhook.id, days])).toHaveLength(1);
      await passWait(webhook);
    },

    async close() {
      await sql.close();
      await server.close();
    },
  };
}

/** What a receiver got in the format STANDARD. */
export const eventsOf = (received: readonly Received[]) =>
  received.map(
    ({ body }) => JSON.parse(body) as { readonly type: string; readonly data: { readonly resource_path: string } },
  );

export const pathsOf = (received: readonly Received[]): string[] =>
  eventsOf(received).map(({ data }) => data.resource_path);

export const idsOf = (received: readonly Received[]): unknown[] => received.map(({ headers }) => headers["webhook-id"]);
