import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { Updateable } from "kysely";
import type { Webhook } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import { compareLogs } from "../deliveries/lease.ts";
import type { AuthorHolds } from "../../access/evaluation/author-holds.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { isLogOfCustomer } from "../../database/org-key.ts";
import type { Schema } from "../../database/schema.ts";
import { alone } from "../../standard-methods/batch/batch-item.ts";
import { readWriteRequest } from "../../standard-methods/method-handler.ts";
import { updateRow } from "../../standard-methods/rows/update-row.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { locksOf, runOpen } from "../../standard-methods/write/open-write.ts";
import { requireFound } from "../../standard-methods/write/require-found.ts";
import { requireOpenParents } from "../../standard-methods/write/require-open-parents.ts";
import { runWrite } from "../../standard-methods/write/write-call.ts";
import { placeOfCall } from "../../standard-methods/place-of-call.ts";
import { webhookDefinition } from "./definition.ts";
import { beginLogsAnew } from "./logs.ts";
import { type IssuedWebhookRow, toWebhook } from "./message.ts";
import { requireMayDeliver, tryAtOnce } from "./rules.ts";
import type { ServedWebhooks } from "./served.ts";

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
  return (request: Request, context: HandlerContext): Promise<Webhook> => {
    const { placed, path } = placeOfCall(served, context);
    const { reader, rules, dependencies } = placed;
    const write = readWriteRequest(method, request, context);
    return runWrite(
      dependencies,
      write,
      async (call) =>
        runOpen(call, await locksOf(rules.scope, call.db, path), async (transaction) => {
          const found = await reader.find(transaction.db, path);
          const row = await requireFound(placed, transaction, found, path, request.etag);
          await requireOpenParents(placed, transaction, [row], alone);
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
  authorHolds: AuthorHolds,
  transaction: OrgTransaction,
  { id }: IssuedWebhookRow,
): Promise<Changed> {
  const member = await requireMayDeliver(transaction, authorHolds);
  const resumed = { state: "ACTIVE", disabled_reason: null, ...member, ...tryAtOnce } as const;
  // What was written while it did not deliver, nobody has noted.
  if (!isLogOfCustomer(transaction.org)) return { columns: { ...resumed, noted_time: transaction.time } };
  await beginLogsAnew(transaction, id);
  return { columns: { ...resumed, cursor_position: compareLogs } };
}
