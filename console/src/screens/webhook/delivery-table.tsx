import { Link } from "@tanstack/react-router";
import { type WebhookDelivery, WebhookDelivery_State } from "../../../../gen/iam/v1alpha/webhook_pb.ts";
import { nameOf, orgOf } from "../../calls/paths.ts";
import { useOrgNames } from "../../calls/use-org-names.ts";
import type { Permissions } from "../../calls/use-permissions.ts";
import { deliveryTexts, webhookTexts } from "../../texts/delivery-texts.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { Time } from "../../ui/time.tsx";
import { Answer, Outcome, Took } from "../webhooks/outcome.tsx";

interface DeliveryTableProps {
  /** The org or customer of the webhook. */
  readonly parentPath: string;
  readonly rows: readonly WebhookDelivery[];
  readonly permissions: Permissions;
  readonly onReplay: (delivery: WebhookDelivery) => void;
}

/** What a webhook has sent: when, and what the receiver answered. The time leads to the first of the changes. */
export function DeliveryTable({ parentPath, rows, permissions, onReplay }: DeliveryTableProps) {
  const isOfOrg = orgOf(parentPath) !== "";
  const nameOfOrg = useOrgNames(parentPath, isOfOrg ? [] : rows.map(({ orgPath }) => orgPath).filter(Boolean));
  const ofLog: Column<WebhookDelivery> = {
    title: texts.kinds.org,
    cell: ({ orgPath }) =>
      orgPath === "" ? webhookTexts.ofCustomer : <PathLink path={orgPath} name={nameOfOrg(orgPath)} />,
  };
  const columns: readonly Column<WebhookDelivery>[] = [
    {
      title: deliveryTexts.columns.sent,
      cell: ({ attemptTime, revision, orgPath }) => {
        const org = orgPath || orgOf(parentPath);
        // The log of a customer itself has no screen.
        if (org === "") return <Time at={attemptTime} />;
        return (
          <Link to="/orgs/$org/changes" params={{ org: nameOf(org) }} search={{ revision }} title={revision}>
            <Time at={attemptTime} />
          </Link>
        );
      },
    },
    ...(isOfOrg ? [] : [ofLog]),
    { title: deliveryTexts.columns.answer, cell: (delivery) => <LatestAnswer delivery={delivery} /> },
    { title: deliveryTexts.columns.changes, numeric: true, wide: true, cell: ({ changeCount }) => changeCount },
    { title: deliveryTexts.columns.attempts, numeric: true, wide: true, cell: ({ attempts }) => attempts },
    { title: deliveryTexts.columns.took, numeric: true, wide: true, cell: (delivery) => <Took delivery={delivery} /> },
    {
      title: texts.columns.actions,
      numeric: true,
      wide: true,
      cell: (delivery) => (
        <GuardedButton
          kind="quiet"
          permissions={permissions}
          permission="iam.webhooks.replay"
          label={`${webhookTexts.replayRow} ${delivery.revision}`}
          onClick={() => onReplay(delivery)}
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
