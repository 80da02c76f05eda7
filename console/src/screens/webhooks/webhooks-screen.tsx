import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { type ComponentProps, type ReactNode, useState } from "react";
import { CustomersService } from "../../../../gen/iam/v1alpha/customer_pb.ts";
import { type Webhook, WebhooksService } from "../../../../gen/iam/v1alpha/webhook_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { useLiveAbove } from "../../calls/use-live-above.ts";
import { type Permissions, usePermissions } from "../../calls/use-permissions.ts";
import { webhookTexts } from "../../texts/delivery-texts.ts";
import { ListPage } from "../../ui/list-page.tsx";
import { PathLink } from "../../ui/path-link.tsx";
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

/** The webhooks of an org. */
export function OrgWebhooksScreen() {
  const { org } = useParams({ from: "/orgs/$org/webhooks" });
  return <WebhooksOf parentPath={`/orgs/${org}`} words={webhookTexts} />;
}

/** The webhooks of a customer, which send what is changed in all of its orgs. */
export function CustomerWebhooksScreen() {
  const { customer: name } = useParams({ from: "/customers/$customer/webhooks" });
  const path = `/customers/${name}`;
  const { data } = useQuery(CustomersService.method.getCustomer, { path }, { retry: false });
  useLiveAbove(path);
  const shown = data?.displayName || name;
  const words = { ...webhookTexts, title: webhookTexts.titleOf(shown), intro: webhookTexts.introOfCustomer };
  return <WebhooksOf parentPath={path} words={words} links={<PathLink path={path} name={shown} />} />;
}

interface WebhooksOfProps {
  /** An org or a customer. */
  readonly parentPath: string;
  readonly words: ComponentProps<typeof ListPage>["words"];
  readonly links?: ReactNode;
}

/** What state the webhooks are in, and what they are behind. */
function WebhooksOf({ parentPath, words, links }: WebhooksOfProps) {
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  const [creating, setCreating] = useState(false);
  const [made, setMade] = useState<Webhook>();
  const permissions = usePermissions(parentPath, permissionsOfScreen);
  const request = { parentPath, pageSize: 100, pageToken: search.page ?? "", filter: toFilter(search.q) };
  const webhooks = useQuery(WebhooksService.method.listWebhooks, request, { placeholderData: keepPreviousData });
  const show = (webhook: Webhook): void => {
    if (webhook.secret !== undefined) setMade(webhook);
    else void navigate({ to: webhook.path });
  };
  return (
    <ListPage
      words={words}
      links={links}
      permissions={permissions}
      permission="iam.webhooks.create"
      onCreate={() => setCreating(true)}
      search={search}
      notes={made && <Made webhook={made} permissions={permissions} onDone={() => setMade(undefined)} />}
      of={webhooks}
      rowsOf={(found) => found.webhooks}
      table={(rows) => <WebhookTable rows={rows} permissions={permissions} />}
    >
      <CreateWebhookDialog parentPath={parentPath} open={creating} onClose={() => setCreating(false)} onMade={show} />
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
