import { useMutation, useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import {
  type ListWebhookDeliveriesResponse,
  type Webhook,
  type WebhookDelivery,
  WebhooksService,
} from "../../../../gen/iam/v1alpha/webhook_pb.ts";
import { orgOf, parentOf } from "../../calls/paths.ts";
import { useLiveAbove } from "../../calls/use-live-above.ts";
import { type Permissions, usePermissions } from "../../calls/use-permissions.ts";
import { deliveryTexts, webhookTexts } from "../../texts/delivery-texts.ts";
import { texts } from "../../texts/texts.ts";
import { Answered, Empty } from "../../ui/notes.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { Pager } from "../../ui/pager.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { RemovalDialog } from "../../ui/removal-dialog.tsx";
import { ScreenOf } from "../../ui/screen-of.tsx";
import { useAsked } from "../../ui/use-asked.ts";
import { lookingAgain } from "../deliveries/look-again.ts";
import { NewWebhookSecret } from "../webhooks/new-webhook-secret.tsx";
import { TestResult, useTest } from "../webhooks/webhook-test.tsx";
import { ChangeWebhookDialog } from "./change-webhook-dialog.tsx";
import { DeliveryTable } from "./delivery-table.tsx";
import { OrgFilter } from "./org-filter.tsx";
import { type Replay, ReplayDialog } from "./replay-dialog.tsx";
import { RotateDialog } from "./rotate-dialog.tsx";
import { type WebhookAction, WebhookActions, permissionsOfActions } from "./webhook-actions.tsx";
import { WebhookFacts } from "./webhook-facts.tsx";

const permissionsOfScreen = [...permissionsOfActions, "iam.webhookDeliveries.list", "iam.changes.list"];

/** A webhook of an org. */
export function OrgWebhookScreen() {
  const { org, webhook } = useParams({ from: "/orgs/$org/webhooks/$webhook" });
  return <WebhookOf parentPath={`/orgs/${org}`} name={webhook} />;
}

/** A webhook of a customer, which sends the logs of all of its orgs. */
export function CustomerWebhookScreen() {
  const { customer, webhook } = useParams({ from: "/customers/$customer/webhooks/$webhook" });
  const parentPath = `/customers/${customer}`;
  useLiveAbove(parentPath);
  return <WebhookOf parentPath={parentPath} name={webhook} />;
}

interface WebhookOfProps {
  /** An org or a customer. */
  readonly parentPath: string;
  readonly name: string;
}

/** One webhook: what it sends, how far it has come, and what its receiver answered. */
function WebhookOf({ parentPath, name }: WebhookOfProps) {
  const path = `${parentPath}/webhooks/${name}`;
  const webhook = useQuery(WebhooksService.method.getWebhook, { path });
  const permissions = usePermissions(parentPath, permissionsOfScreen);
  return <ScreenOf of={webhook}>{(data) => <Shown key={data.id} webhook={data} permissions={permissions} />}</ScreenOf>;
}

interface ShownProps {
  readonly webhook: Webhook;
  readonly permissions: Permissions;
}

function Shown({ webhook, permissions }: ShownProps) {
  const { page = "", org: only = "" } = useSearch({ strict: false });
  const parentPath = parentOf(webhook.path);
  const isOfOrg = orgOf(parentPath) !== "";
  const log = isOfOrg ? parentPath : only || undefined;
  const request = { parentPath: webhook.path, pageSize: 50, pageToken: page, orgPath: isOfOrg ? "" : only };
  const mayList = permissions.may("iam.webhookDeliveries.list");
  const options = { ...lookingAgain(mayList), placeholderData: keepPreviousData };
  const sent = useQuery(WebhooksService.method.listWebhookDeliveries, request, options);
  const test = useTest();
  const { ask, askedFor, close } = useAsked<WebhookAction, Webhook>(webhook);
  const [replay, setReplay] = useState<Replay>();
  const [secret, setSecret] = useState<string>();
  return (
    <Page
      kind={webhookTexts.one}
      title={webhook.displayName || webhook.name}
      intro={webhook.description === "" ? undefined : <bdi>{webhook.description}</bdi>}
      actions={
        <>
          {isOfOrg ? null : <PathLink path={`${parentPath}/webhooks`} name={webhookTexts.title} />}
          <WebhookActions
            webhook={webhook}
            permissions={permissions}
            test={test}
            onAsk={ask}
            onReplay={() => setReplay({ webhook, revision: "" })}
          />
        </>
      }
    >
      {secret === undefined ? null : <NewWebhookSecret secret={secret} onDone={() => setSecret(undefined)} />}
      <TestResult test={test} />
      <WebhookFacts
        webhook={webhook}
        log={log}
        sent={sent.data}
        mayRead={permissions.may("iam.changes.list") === true}
      />
      <Section
        title={webhookTexts.deliveries}
        actions={isOfOrg ? null : <OrgFilter customer={parentPath} org={only} />}
      >
        {mayList === false ? (
          <p className="quiet-text">{deliveryTexts.mayNotSee}</p>
        ) : (
          <Answered of={sent}>
            {(data) => (
              <Sent
                webhook={webhook}
                sent={data}
                page={page}
                permissions={permissions}
                onReplay={({ revision, orgPath }) => setReplay({ webhook, revision, orgPath })}
              />
            )}
          </Answered>
        )}
      </Section>
      <ChangeWebhookDialog webhook={askedFor("change")} onClose={close} />
      <RotateDialog webhook={askedFor("rotate")} onClose={close} onRotated={(rotated) => setSecret(rotated.secret)} />
      <ReplayDialog replay={replay} onClose={() => setReplay(undefined)} />
      <DeleteDialog webhook={askedFor("delete")} onClose={close} />
    </Page>
  );
}

interface SentProps extends ShownProps {
  readonly sent: ListWebhookDeliveriesResponse;
  readonly page: string;
  readonly onReplay: (delivery: WebhookDelivery) => void;
}

function Sent({ webhook, sent: { deliveries, nextPageToken }, page, permissions, onReplay }: SentProps) {
  if (deliveries.length === 0 && page === "") {
    return (
      <Empty title={webhookTexts.noDeliveries}>
        <p>{webhookTexts.noDeliveriesHint}</p>
      </Empty>
    );
  }
  return (
    <>
      <DeliveryTable
        parentPath={parentOf(webhook.path)}
        rows={deliveries}
        permissions={permissions}
        onReplay={onReplay}
      />
      <Pager page={page} nextPage={nextPageToken} shown={deliveries.length} total={undefined} />
    </>
  );
}

interface DeleteDialogProps {
  readonly webhook: Webhook | undefined;
  readonly onClose: () => void;
}

function DeleteDialog({ webhook, onClose }: DeleteDialogProps) {
  const navigate = useNavigate();
  const remove = useMutation(WebhooksService.method.deleteWebhook);
  return (
    <RemovalDialog
      words={texts.delete}
      intro={webhookTexts.deleteIntro}
      removed={webhook}
      onClose={onClose}
      onRemove={async (path) => {
        await remove.mutateAsync({ path, etag: webhook?.etag ?? "" });
        await navigate({ to: `${parentOf(path)}/webhooks` });
      }}
    />
  );
}
