import type { RotateWebhookRequest } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { secondsAfter } from "../../database/clock.ts";
import { isInOrgOf } from "../../database/org-key.ts";
import type { Sealer } from "../../identity/sealer.ts";
import { type IssuedWebhookRow, signatureOf } from "./message.ts";
import { issueKeys } from "./secret.ts";
import type { Changed } from "./set-state.ts";

const daySeconds = 86_400;

/** Replaces the secret or the key pair of a webhook, with an overlap in which requests are signed with both. */
export async function rotateSecret(
  sealer: Pick<Sealer, "seal">,
  { db, org }: OrgTransaction,
  row: IssuedWebhookRow,
  { overlap, signature }: RotateWebhookRequest,
): Promise<Changed> {
  const { sealed_secret: previous } = await db
    .selectFrom("webhooks")
    .select("sealed_secret")
    .where(isInOrgOf("webhooks", org))
    .where("id", "=", row.id)
    .executeTakeFirstOrThrow();
  const { secret, ...keys } = issueKeys(sealer, row.id, signature || signatureOf(row.public_key));
  const columns = {
    ...keys,
    sealed_previous_secret: previous,
    previous_public_key: row.public_key,
    previous_secret_expire_time: secondsAfter(org.lockTime, Number(overlap?.seconds ?? daySeconds)),
  };
  return { columns, ...(secret !== undefined && { joined: { secret } }) };
}
