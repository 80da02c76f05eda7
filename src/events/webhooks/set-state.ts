import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { type Updateable, sql } from "kysely";
import type { Webhook } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import { targetOf } from "../../access/evaluation/call.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { isInOrgOf } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";
import { invalidField } from "../../errors/service-error.ts";
import { timeText } from "../../database/clock.ts";
import type { WebhookSchema } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import { patterns } from "../../paths/patterns.ts";
import { readWriteRequest } from "../../standard-methods/method-handler.ts";
import { updateRow } from "../../standard-methods/rows/update-row.ts";
import type { ServedResource } from "../../standard-methods/rules.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { runOpen } from "../../standard-methods/write/open-write.ts";
import { requireFound } from "../../standard-methods/write/require-found.ts";
import { runWrite } from "../../standard-methods/write/write-call.ts";
import { webhookDefinition } from "./definition.ts";
import { type IssuedWebhookRow, toWebhook } from "./message.ts";
import { nonePending, requireMayDeliver, tryAtOnce } from "./rules.ts";

export type ServedWebhooks = ServedResource<"webhooks", IssuedWebhookRow, typeof WebhookSchema>;

type WebhookChange = Updateable<Schema["webhooks"]>;

/** What a method changes of a webhook that exists. */
export interface Changed {
  readonly columns: WebhookChange;
  /** What else of the message it changes: a new secret. */
  readonly joined?: Partial<IssuedWebhookRow>;
}

/** Creates a handler that changes a webhook and returns it. */
export function createChangeWebhook<Request extends Message & { readonly etag: string }>(
  served: ServedWebhooks,
  method: DescMethod,
  change: (transaction: OrgTransaction, row: IssuedWebhookRow, request: Request) => Promise<Changed>,
) {
  const { reader, dependencies } = served;
  return (request: Request, context: HandlerContext): Promise<Webhook> => {
    const path = targetOf(context, patterns.Webhook);
    const write = readWriteRequest(method, request, context);
    return runWrite(
      dependencies,
      write,
      (call) =>
        runOpen(call, { org: path[0] }, async (transaction) => {
          const found = await reader.find(transaction.db, path);
          const row = await requireFound(served, transaction, found, path, request.etag);
          const changed = await change(transaction, row, request);
          return toWebhook(await changeWebhook(transaction, row, changed));
        }),
      webhookDefinition.withoutSecrets,
    );
  };
}

/** Changes a webhook, and records that. */
export async function changeWebhook(
  transaction: OrgTransaction,
  row: IssuedWebhookRow,
  { columns, joined = {} }: Changed,
): Promise<IssuedWebhookRow> {
  const { db, org, revision, time } = transaction;
  const change = { fields: toWebhook(row), columns };
  const after = {
    ...row,
    ...(await updateRow({ db, org, revision, time }, webhookDefinition, row, change)),
    ...joined,
  };
  recordChange(transaction, webhookDefinition, row, after);
  return after;
}

export function pause(): Promise<Changed> {
  return Promise.resolve({ columns: { state: "PAUSED", disabled_reason: null } });
}

export async function resume(
  { dependencies: { authorHolds } }: ServedWebhooks,
  transaction: OrgTransaction,
): Promise<Changed> {
  const member = await requireMayDeliver(transaction, authorHolds);
  // What was written while it did not deliver, nobody has noted.
  const noted = { noted_time: transaction.time };
  return { columns: { state: "ACTIVE", disabled_reason: null, ...member, ...tryAtOnce, ...noted } };
}

/** Sets the cursor before a revision, and takes the webhook from the server that delivers: it has another cursor. */
export async function replay({ db, org }: OrgTransaction, revision: string): Promise<Changed> {
  const found = await db
    .selectFrom("changes")
    .select(timeText(sql`time`).as("time"))
    .where(isInOrgOf("changes", org))
    .where("revision", "=", revision)
    .limit(1)
    .executeTakeFirst();
  if (found === undefined) {
    throw invalidField("from_revision", "must be the revision of a Change that is in the log of the org", "revision");
  }
  const cursor = { cursor_time: found.time, cursor_revision: revision, cursor_position: -1 };
  return { columns: { ...cursor, ...nonePending, ...tryAtOnce, lease_id: null, lease_end: "epoch" } };
}
