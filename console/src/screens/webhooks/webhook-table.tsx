import { useQuery } from "@connectrpc/connect-query";
import { type Webhook, WebhooksService, Webhook_StateSchema } from "../../../../gen/iam/v1alpha/webhook_pb.ts";
import { orgOf, parentOf } from "../../calls/paths.ts";
import type { Permissions } from "../../calls/use-permissions.ts";
import { deliveryTexts, webhookTexts } from "../../texts/delivery-texts.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { StateBadge } from "../../ui/state-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { lookingAgain } from "../deliveries/look-again.ts";
import { Outcome } from "./outcome.tsx";
import { Waiting } from "./waiting.tsx";

interface WebhookTableProps {
  readonly rows: readonly Webhook[];
  readonly permissions: Permissions;
}

export function WebhookTable({ rows, permissions }: WebhookTableProps) {
  const isOfOrg = orgOf(permissions.resourcePath) !== "";
  const columns: Column<Webhook>[] = [
    { title: texts.columns.name, cell: (row) => <PathLink path={row.path} name={row.displayName || row.name} /> },
    { title: deliveryTexts.columns.url, wide: true, cell: ({ url }) => <code>{url}</code> },
    { title: texts.columns.state, cell: ({ state }) => <StateBadge of={Webhook_StateSchema} value={state} /> },
    {
      title: deliveryTexts.columns.last,
      wide: isOfOrg,
      cell: (webhook) => <LastSent webhook={webhook} permissions={permissions} />,
    },
  ];
  // One of a customer is behind in each log by itself.
  if (isOfOrg) {
    columns.push({
      title: deliveryTexts.columns.behind,
      cell: (webhook) => <Behind webhook={webhook} permissions={permissions} />,
    });
  }
  return <DataTable label={webhookTexts.title} columns={columns} rows={rows} keyOf={({ id }) => id} />;
}

interface CellProps {
  readonly webhook: Webhook;
  readonly permissions: Permissions;
}

/** What the cells of a row show; only rows near what is visible ask for it. */
function useSent({ webhook, permissions }: CellProps) {
  const request = { parentPath: webhook.path, pageSize: 1 };
  const options = lookingAgain(permissions.may("iam.webhookDeliveries.list"));
  return useQuery(WebhooksService.method.listWebhookDeliveries, request, options).data;
}

function LastSent(props: CellProps) {
  const sent = useSent(props);
  if (sent === undefined) return null;
  const [last] = sent.deliveries;
  if (last === undefined) return <span className="quiet-text">{deliveryTexts.nothingSent}</span>;
  return (
    <>
      <Time at={last.attemptTime} /> <Outcome delivery={last} />
    </>
  );
}

function Behind(props: CellProps) {
  const { webhook, permissions } = props;
  const sent = useSent(props);
  if (permissions.may("iam.webhookDeliveries.list") === false) {
    return <span className="quiet-text">{deliveryTexts.mayNotSee}</span>;
  }
  if (sent === undefined) return null;
  return (
    <Waiting
      webhook={webhook}
      log={parentOf(webhook.path)}
      sent={sent}
      mayRead={permissions.may("iam.changes.list") === true}
    />
  );
}
