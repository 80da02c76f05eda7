import { useMutation } from "@connectrpc/connect-query";
import { type Webhook, WebhookSchema, WebhooksService } from "../../../../gen/iam/v1alpha/webhook_pb.ts";
import { deliveryTexts } from "../../texts/delivery-texts.ts";
import { ChangeDialog } from "../../ui/change-dialog.tsx";
import { readWebhookFields, WebhookFields, webhookFields } from "../webhooks/webhook-fields.tsx";

interface ChangeWebhookDialogProps {
  /** As it was when somebody asked to change it; undefined while nobody does. */
  readonly webhook: Webhook | undefined;
  readonly onClose: () => void;
}

export function ChangeWebhookDialog({ webhook, onClose }: ChangeWebhookDialogProps) {
  const update = useMutation(WebhooksService.method.updateWebhook);
  return (
    <ChangeDialog
      schema={WebhookSchema}
      of={webhook}
      intro={deliveryTexts.changeIntro}
      fields={webhookFields}
      read={readWebhookFields}
      onClose={onClose}
      onChange={({ path, changed, updateMask }) => update.mutateAsync({ path, webhook: changed, updateMask })}
    >
      <WebhookFields webhook={webhook} />
    </ChangeDialog>
  );
}
