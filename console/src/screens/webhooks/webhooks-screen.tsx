import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { type Webhook, WebhooksService } from "../../../../gen/iam/v1alpha/webhook_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { type Permissions, usePermissions } from "../../calls/use-permissions.ts";
import { webhookTexts } from "../../texts/delivery-texts.ts";
import { ListPage } from "../../ui/list-page.tsx";
import { CreateWebhookDialog } from "./create-webhook-dialog.tsx";
import { NewWebhookSecret } from "./new-webhook-secret.tsx";
import { TestButton, TestResult, useTest } from "./webhook-test.tsx";
import { WebhookTable } from "./webhook-table.tsx";

const permissionsOfScreen = [
  "iam.webhooks.create",
  "iam.webhooks.test",
  "iam.webhookDeliveries.list",
  "iam.changes.list",
];

/** The webhooks of an org: what state they are in, and what they are behind. */
export function WebhooksScreen() {
  const { org } = useParams({ from: "/orgs/$org/webhooks" });
  const search = useSearch({ from: "/orgs/$org/webhooks" });
  const navigate = useNavigate();
  const parentPath = `/orgs/${org}`;
  const [creating, setCreating] = useState(false);
  const [made, setMade] = useState<Webhook>();
  const permissions = usePermissions(parentPath, permissionsOfScreen);
  const request = { parentPath, pageSize: 100, pageToken: search.page ?? "", filter: toFilter(search.q) };
  const webhooks = useQuery(WebhooksService.method.listWebhooks, request, { placeholderData: keepPreviousData });
  const show = (webhook: Webhook): void => {
    if (webhook.secret !== undefined) setMade(webhook);
    else void navigate({ to: "/orgs/$org/webhooks/$webhook", params: { org, webhook: webhook.name } });
  };
  return (
    <ListPage
      words={webhookTexts}
      permissions={permissions}
      permission="iam.webhooks.create"
      onCreate={() => setCreating(true)}
      search={search}
      notes={made && <Made webhook={made} permissions={permissions} onDone={() => setMade(undefined)} />}
      of={webhooks}
      rowsOf={(found) => found.webhooks}
      table={(rows) => <WebhookTable rows={rows} permissions={permissions} />}
    >
      <CreateWebhookDialog org={parentPath} open={creating} onClose={() => setCreating(false)} onMade={show} />
    </ListPage>
  );
}

interface MadeProps {
  readonly webhook: Webhook;
  readonly permissions: Permissions;
  readonly onDone: () => void;
}

/** The secret of a webhook that was created, with a test of its receiver. */
function Made({ webhook, permissions, onDone }: MadeProps) {
  const test = useTest();
  return (
    <NewWebhookSecret secret={webhook.secret ?? ""} onDone={onDone}>
      <TestButton path={webhook.path} test={test} permissions={permissions} />
      <TestResult test={test} />
    </NewWebhookSecret>
  );
}
