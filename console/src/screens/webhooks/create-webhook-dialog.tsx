import { useMutation } from "@connectrpc/connect-query";
import { type Webhook, WebhooksService } from "../../../../gen/iam/v1alpha/webhook_pb.ts";
import { webhookTexts } from "../../texts/delivery-texts.ts";
import { CreateDialog } from "../../ui/create-dialog.tsx";
import type { Named } from "../../ui/named-fields.tsx";
import { readSignature, readWebhookFields, SignatureField, WebhookFields, webhookFields } from "./webhook-fields.tsx";

interface CreateWebhookDialogProps {
  /** An org or a customer, such as `/orgs/acme`. */
  readonly parentPath: string;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onMade: (webhook: Webhook) => void;
}

export function CreateWebhookDialog({ parentPath, open, onClose, onMade }: CreateWebhookDialogProps) {
  const create = useMutation(WebhooksService.method.createWebhook, {
    // The secret stays in the screen that shows it, and goes with it.
    gcTime: 0,
  });
  const submit = async (named: Named, form: FormData): Promise<void> => {
    const webhook = { ...named, ...readWebhookFields(form), signature: readSignature(form) };
    onMade(await create.mutateAsync({ parentPath, webhook }));
    create.reset();
  };
  return (
    <CreateDialog
      title={webhookTexts.create}
      intro={webhookTexts.createIntro}
      fields={[...webhookFields, "signature"]}
      open={open}
      onClose={onClose}
      onCreate={submit}
    >
      <WebhookFields />
      <SignatureField />
    </CreateDialog>
  );
}
