import { durationMs } from "@bufbuild/protobuf/wkt";
import { type WebhookDelivery, WebhookDelivery_StateSchema } from "../../../../gen/iam/v1alpha/webhook_pb.ts";
import { deliveryTexts } from "../../texts/delivery-texts.ts";
import { StateBadge } from "../../ui/state-badge.tsx";

/** How many characters of an answer are shown before somebody opens it. */
const shownCharacters = 80;

/** What has become of a request, and the status of the answer. */
export function Outcome({ delivery: { state, statusCode } }: { readonly delivery: WebhookDelivery }) {
  return (
    <span>
      <StateBadge of={WebhookDelivery_StateSchema} value={state} />{" "}
      {statusCode === 0 ? null : <code>{statusCode}</code>}
    </span>
  );
}

/** The first bytes of an answer, or why there was none. */
export function Answer({ delivery: { answer, error } }: { readonly delivery: WebhookDelivery }) {
  if (error !== "") return <bdi>{error}</bdi>;
  if (answer === "") return <span className="quiet-text">{deliveryTexts.noAnswer}</span>;
  if (answer.length <= shownCharacters) return <code>{answer}</code>;
  return (
    <details className="answer">
      <summary>
        <code>{answer.slice(0, shownCharacters)}…</code>
      </summary>
      <code>{answer}</code>
    </details>
  );
}

/** How long the receiver took. */
export function Took({ delivery: { duration } }: { readonly delivery: WebhookDelivery }) {
  return duration === undefined ? null : deliveryTexts.milliseconds(durationMs(duration));
}
