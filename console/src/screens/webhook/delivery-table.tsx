import { Link } from "@tanstack/react-router";
import { type WebhookDelivery, WebhookDelivery_State } from "../../../../gen/iam/v1alpha/webhook_pb.ts";
import { nameOf } from "../../calls/paths.ts";
import type { Permissions } from "../../calls/use-permissions.ts";
import { deliveryTexts, webhookTexts } from "../../texts/delivery-texts.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Time } from "../../ui/time.tsx";
import { Answer, Outcome, Took } from "../webhooks/outcome.tsx";

interface DeliveryTableProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  readonly rows: readonly WebhookDelivery[];
  readonly permissions: Permissions;
  readonly onReplay: (revision: string) => void;
}

/** What a webhook has sent: when, and what the receiver answered. The time leads to the first of the changes. */
export function DeliveryTable({ org, rows, permissions, onReplay }: DeliveryTableProps) {
  const columns: readonly Column<WebhookDelivery>[] = [
    {
      title: deliveryTexts.columns.sent,
      cell: ({ attemptTime, revision }) => (
        <Link to="/orgs/$org/changes" params={{ org: nameOf(org) }} search={{ revision }} title={revision}>
          <Time at={attemptTime} />
        </Link>
      ),
    },
    { title: deliveryTexts.columns.answer, cell: (delivery) => <LatestAnswer delivery={delivery} /> },
    { title: deliveryTexts.columns.changes, numeric: true, wide: true, cell: ({ changeCount }) => changeCount },
    { title: deliveryTexts.columns.attempts, numeric: true, wide: true, cell: ({ attempts }) => attempts },
    { title: deliveryTexts.columns.took, numeric: true, wide: true, cell: (delivery) => <Took delivery={delivery} /> },
    {
      title: texts.columns.actions,
      numeric: true,
      wide: true,
      cell: ({ revision }) => (
        <GuardedButton
          kind="quiet"
          permissions={permissions}
          permission="iam.webhooks.replay"
          label={`${webhookTexts.replayRow} ${revision}`}
          onClick={() => onReplay(revision)}
        >
          {webhookTexts.replayRow}
        </GuardedButton>
      ),
    },
  ];
  return <DataTable label={webhookTexts.deliveries} columns={columns} rows={rows} keyOf={({ id }) => id} />;
}

/** What the receiver answered, and when the request is sent again. */
function LatestAnswer({ delivery }: { readonly delivery: WebhookDelivery }) {
  return (
    <>
      <div>
        <Outcome delivery={delivery} />
      </div>
      <Answer delivery={delivery} />
      {delivery.state === WebhookDelivery_State.FAILED ? (
        <div className="quiet-text wide">
          {deliveryTexts.again} <Time at={delivery.nextAttemptTime} />
        </div>
      ) : null}
    </>
  );
}
