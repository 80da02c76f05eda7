import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { type Webhook, WebhooksService } from "../../../../gen/iam/v1alpha/webhook_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { type Permissions, usePermissions } from "../../calls/use-permissions.ts";
import { webhookTexts } from "../../texts/delivery-texts.ts";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Answered, Empty } from "../../ui/notes.tsx";
import { Page } from "../../ui/page.tsx";
import { Pager } from "../../ui/pager.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
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
  const { q, page = "" } = useSearch({ from: "/orgs/$org/webhooks" });
  const navigate = useNavigate();
  const parentPath = `/orgs/${org}`;
  const [creating, setCreating] = useState(false);
  const [made, setMade] = useState<Webhook>();
  const permissions = usePermissions(parentPath, permissionsOfScreen);
  const request = { parentPath, pageSize: 100, pageToken: page, filter: toFilter(q) };
  const webhooks = useQuery(WebhooksService.method.listWebhooks, request, { placeholderData: keepPreviousData });
  const show = (webhook: Webhook): void => {
    if (webhook.secret !== undefined) setMade(webhook);
    else void navigate({ to: "/orgs/$org/webhooks/$webhook", params: { org, webhook: webhook.name } });
  };
  return (
    <Page
      title={webhookTexts.title}
      intro={webhookTexts.intro}
      actions={
        <GuardedButton
          kind="primary"
          permissions={permissions}
          permission="iam.webhooks.create"
          onClick={() => setCreating(true)}
        >
          {webhookTexts.create}
        </GuardedButton>
      }
    >
      {made === undefined ? null : <Made webhook={made} permissions={permissions} onDone={() => setMade(undefined)} />}
      <div className="filters">
        <SearchBox label={webhookTexts.search} value={q ?? ""} />
      </div>
      <Answered of={webhooks}>
        {({ webhooks: rows, nextPageToken, totalSize }) => (
          <>
            {rows.length === 0 ? (
              <NoWebhooks filtered={q !== undefined} />
            ) : (
              <WebhookTable rows={rows} permissions={permissions} />
            )}
            <Pager page={page} nextPage={nextPageToken} shown={rows.length} total={totalSize} />
          </>
        )}
      </Answered>
      <CreateWebhookDialog org={parentPath} open={creating} onClose={() => setCreating(false)} onMade={show} />
    </Page>
  );
}

function NoWebhooks({ filtered }: { readonly filtered: boolean }) {
  if (filtered) return <Empty title={webhookTexts.noneFound} />;
  return (
    <Empty title={webhookTexts.none}>
      <p>{webhookTexts.noneHint}</p>
    </Empty>
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
