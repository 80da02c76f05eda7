import {
  type ListWebhookDeliveriesResponse,
  type Webhook,
  Webhook_DisabledReasonSchema,
  Webhook_FormatSchema,
  Webhook_SignatureSchema,
  Webhook_StateSchema,
} from "../../../../gen/iam/v1alpha/webhook_pb.ts";
import { deliveryTexts, webhookTexts } from "../../texts/delivery-texts.ts";
import { secretTexts } from "../../texts/secret-texts.ts";
import { texts } from "../../texts/texts.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { nameIn, wordIn } from "../../texts/enum-words.ts";
import { StateBadge } from "../../ui/state-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { DeliveredUpTo } from "../deliveries/delivered-up-to.tsx";
import { DeliversFor } from "../deliveries/delivers-for.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { PathFacts } from "../../ui/path-facts.tsx";
import { Waiting } from "../webhooks/waiting.tsx";

interface WebhookFactsProps {
  readonly webhook: Webhook;
  /** The org of whose log `sent` is; undefined for all logs of a customer. */
  readonly log: string | undefined;
  /** Undefined while the service has not said, and for people who may not see it. */
  readonly sent: ListWebhookDeliveriesResponse | undefined;
  /** Whether the person may read the log. */
  readonly mayRead: boolean;
}

/** What a webhook is and how far it has come. */
export function WebhookFacts({ webhook, log, sent, mayRead }: WebhookFactsProps) {
  return (
    <Facts>
      <Fact title={texts.columns.state}>
        <StateBadge of={Webhook_StateSchema} value={webhook.state} />{" "}
        {deliveryTexts.disabled[nameIn(Webhook_DisabledReasonSchema, webhook.disabledReason)]}
      </Fact>
      {sent === undefined ? null : <Progress webhook={webhook} log={log} sent={sent} mayRead={mayRead} />}
      <Fact title={webhookTexts.url}>
        <code>{webhook.url}</code>
      </Fact>
      <Fact title={webhookTexts.changes}>
        {webhook.filter === "" ? webhookTexts.allChanges : <code>{webhook.filter}</code>}
      </Fact>
      <Fact title={webhookTexts.format}>{wordIn(webhookTexts.formats, Webhook_FormatSchema, webhook.format)}</Fact>
      <Fact title={webhookTexts.patience}>
        {webhook.holdRetention ? webhookTexts.patienceOf.hold : webhookTexts.patienceOf.giveUp}
      </Fact>
      <Signature webhook={webhook} />
      <Fact title={deliveryTexts.deliversFor}>
        <DeliversFor memberPath={webhook.memberPath} />
      </Fact>
      <PathFacts of={webhook} />
      <Fact title={texts.columns.created}>
        <Time at={webhook.createTime} />
      </Fact>
    </Facts>
  );
}

interface ProgressProps {
  readonly webhook: Webhook;
  readonly log: string | undefined;
  readonly sent: ListWebhookDeliveriesResponse;
  readonly mayRead: boolean;
}

function Progress({ webhook, log, sent, mayRead }: ProgressProps) {
  return (
    <>
      {log === undefined || sent.deliveredRevision === "" ? null : (
        <>
          <Fact title={deliveryTexts.columns.behind}>
            <Waiting webhook={webhook} log={log} sent={sent} mayRead={mayRead} />
          </Fact>
          <Fact title={deliveryTexts.deliveredUpTo}>
            <DeliveredUpTo org={log} revision={sent.deliveredRevision} mayRead={mayRead} />
          </Fact>
        </>
      )}
      {sent.holdEndTime === undefined ? null : (
        <Fact title={webhookTexts.heldUntil}>
          <Time at={sent.holdEndTime} />
        </Fact>
      )}
    </>
  );
}

function Signature({ webhook }: { readonly webhook: Webhook }) {
  const { signature, publicKey, previousPublicKey, previousSecretExpireTime } = webhook;
  return (
    <>
      <Fact title={webhookTexts.signature}>{wordIn(webhookTexts.signatures, Webhook_SignatureSchema, signature)}</Fact>
      {publicKey === "" ? null : (
        <Fact title={webhookTexts.publicKey}>
          <code translate="no">{publicKey}</code> <CopyButton text={publicKey} label={webhookTexts.copyKey} />
        </Fact>
      )}
      {previousPublicKey === "" ? null : (
        <Fact title={webhookTexts.previousKey}>
          <code translate="no">{previousPublicKey}</code>
        </Fact>
      )}
      {previousSecretExpireTime === undefined ? null : (
        <Fact title={secretTexts.previousEnds}>
          <Time at={previousSecretExpireTime} />
        </Fact>
      )}
    </>
  );
}
