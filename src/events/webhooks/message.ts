import {
  type Webhook,
  Webhook_DisabledReason as Reason,
  Webhook_Format as Format,
  Webhook_Signature as Signature,
  Webhook_State as State,
} from "../../../gen/iam/v1alpha/webhook_pb.ts";
import type { Webhooks } from "../../database/webhook-tables.ts";
import { byId, formatPath, pathName } from "../../paths/format-path.ts";
import { otherPatterns, patterns } from "../../paths/patterns.ts";
import { namedFields } from "../../standard-methods/named-fields.ts";
import { toTimestamp } from "../../standard-methods/to-timestamp.ts";
import { toPublicKey } from "./secret.ts";
import type { WebhookRow } from "./store.ts";

/** A row. It has the secret only right after the creation, or after a rotation. */
export type IssuedWebhookRow = WebhookRow & { readonly secret?: string };

const formats = ["CLOUDEVENTS", "NDJSON_BATCH"] as const;

export const toFormatColumn = (format: Format): Webhooks["format"] =>
  formats.find((name) => Format[name] === format) ?? "STANDARD";

/** Returns with what a webhook signs that has this public key. */
export const signatureOf = (publicKey: Buffer | null): Signature =>
  publicKey === null ? Signature.HMAC_SHA256 : Signature.ED25519;

export function toWebhook(row: IssuedWebhookRow): Webhook {
  return {
    $typeName: "iam.v1alpha.Webhook",
    path: webhookPath(row),
    ...namedFields(row),
    url: row.url,
    filter: row.filter,
    format: Format[row.format],
    state: State[row.state],
    disabledReason: row.disabled_reason === null ? Reason.DISABLED_REASON_UNSPECIFIED : Reason[row.disabled_reason],
    // Of any org, and may no longer exist.
    memberPath: formatPath(patterns.Member, byId(row.member_org_id), byId(row.member_id)),
    holdRetention: row.hold_retention,
    signature: signatureOf(row.public_key),
    publicKey: toPublicKey(row.public_key),
    previousPublicKey: toPublicKey(row.previous_public_key),
    secret: row.secret,
    previousSecretExpireTime: toTimestamp(row.previous_secret_expire_time),
  };
}

export function webhookPath(row: WebhookRow): string {
  const { org_id: id, org_name: orgName, customer_name: customerName } = row;
  if (orgName === null) {
    const customer = pathName({ id, name: customerName ?? "", delete_time: row.customer_delete_time });
    return formatPath(otherPatterns.customerWebhook, customer, row.name);
  }
  return formatPath(patterns.Webhook, pathName({ id, name: orgName, delete_time: row.org_delete_time }), row.name);
}
