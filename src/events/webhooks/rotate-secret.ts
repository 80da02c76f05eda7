import type { RotateWebhookRequest } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { secondsAfter } from "../../database/clock.ts";
import { isInOrgOf } from "../../database/org-key.ts";
import type { Sealer } from "../../identity/sealer.ts";
import type { IssuedWebhookRow } from "./message.ts";
import { issueSecret } from "./secret.ts";
import type { Changed } from "./set-state.ts";

const daySeconds = 86_400;

/** Replaces the secret of a webhook, with an overlap in which requests are signed with both. */
export async function rotateSecret(
  sealer: Pick<Sealer, "seal">,
  { db, org }: OrgTransaction,
  { id }: IssuedWebhookRow,
  { overlap }: RotateWebhookRequest,
): Promise<Changed> {
  const { sealed_secret: previous } = await db
    .selectFrom("webhooks")
    .select("sealed_secret")
    .where(isInOrgOf("webhooks", org))
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  const { secret, sealed } = issueSecret(sealer, id);
  const columns = {
    sealed_secret: sealed,
    sealed_previous_secret: previous,
    previous_secret_expire_time: secondsAfter(org.lockTime, Number(overlap?.seconds ?? daySeconds)),
  };
  return { columns, joined: { secret } };
}
