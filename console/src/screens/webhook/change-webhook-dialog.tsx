import { useMutation } from "@connectrpc/connect-query";
import { type Webhook, WebhooksService } from "../../../../gen/iam/v1alpha/webhook_pb.ts";
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
      of={webhook}
      intro={deliveryTexts.changeIntro}
      fields={webhookFields}
      onClose={onClose}
      onChange={({ path, described, updateMask }, form) =>
        update.mutateAsync({ path, webhook: { ...described, ...readWebhookFields(form) }, updateMask })
      }
    >
      <WebhookFields webhook={webhook} />
    </ChangeDialog>
  );
}
