import { useMutation } from "@connectrpc/connect-query";
import { type Webhook, WebhooksService, Webhook_State } from "../../../../gen/iam/v1alpha/webhook_pb.ts";
import type { Permissions } from "../../calls/use-permissions.ts";
import { webhookTexts } from "../../texts/delivery-texts.ts";
import { secretTexts } from "../../texts/secret-texts.ts";
import { texts } from "../../texts/texts.ts";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { PauseButton } from "../deliveries/pause-button.tsx";
import { TestButton, type useTest } from "../webhooks/webhook-test.tsx";

/** What a dialog asks about. */
export type WebhookAction = "change" | "rotate" | "delete";

export const permissionsOfActions = ["test", "update", "pause", "resume", "replay", "rotate", "delete"].map(
  (verb) => `iam.webhooks.${verb}`,
);

interface WebhookActionsProps {
  readonly webhook: Webhook;
  readonly permissions: Permissions;
  readonly test: ReturnType<typeof useTest>;
  readonly onAsk: (action: WebhookAction) => void;
  readonly onReplay: () => void;
}

/** What can be done with a webhook. */
export function WebhookActions({ webhook, permissions, test, onAsk, onReplay }: WebhookActionsProps) {
  const pause = useMutation(WebhooksService.method.pauseWebhook);
  const resume = useMutation(WebhooksService.method.resumeWebhook);
  return (
    <>
      <TestButton path={webhook.path} test={test} permissions={permissions} />
      <GuardedButton permissions={permissions} permission="iam.webhooks.update" onClick={() => onAsk("change")}>
        {texts.change}
      </GuardedButton>
      <PauseButton
        of={webhook}
        isActive={webhook.state === Webhook_State.ACTIVE}
        permissions={permissions}
        collection="iam.webhooks"
        pauseIntro={webhookTexts.pauseIntro}
        onPause={(request) => pause.mutateAsync(request)}
        onResume={(request) => resume.mutateAsync(request)}
      />
      <GuardedButton permissions={permissions} permission="iam.webhooks.replay" onClick={onReplay}>
        {webhookTexts.replay}
      </GuardedButton>
      <GuardedButton permissions={permissions} permission="iam.webhooks.rotate" onClick={() => onAsk("rotate")}>
        {secretTexts.rotate}
      </GuardedButton>
      <GuardedButton
        kind="danger"
        permissions={permissions}
        permission="iam.webhooks.delete"
        onClick={() => onAsk("delete")}
      >
        {texts.delete}
      </GuardedButton>
    </>
  );
}
