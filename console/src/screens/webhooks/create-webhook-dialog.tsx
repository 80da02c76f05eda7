import { useMutation } from "@connectrpc/connect-query";
import { type Webhook, WebhooksService } from "../../../../gen/iam/v1alpha/webhook_pb.ts";
import { webhookTexts } from "../../texts/delivery-texts.ts";
import { texts } from "../../texts/texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { NamedFields, namedFields, readNamed } from "../../ui/named-fields.tsx";
import { readSignature, readWebhookFields, SignatureField, WebhookFields, webhookFields } from "./webhook-fields.tsx";

interface CreateWebhookDialogProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onMade: (webhook: Webhook) => void;
}

export function CreateWebhookDialog({ org, open, onClose, onMade }: CreateWebhookDialogProps) {
  const create = useMutation(WebhooksService.method.createWebhook, {
    // The secret stays in the screen that shows it, and goes with it.
    gcTime: 0,
  });
  const submit = async (form: FormData): Promise<void> => {
    const webhook = { ...readNamed(form), ...readWebhookFields(form), signature: readSignature(form) };
    onMade(await create.mutateAsync({ parentPath: org, webhook }));
    create.reset();
  };
  return (
    <FormDialog
      title={webhookTexts.create}
      intro={webhookTexts.createIntro}
      submit={texts.create}
      fields={[...namedFields, ...webhookFields, "signature"]}
      open={open}
      onClose={onClose}
      onSubmit={submit}
    >
      <NamedFields />
      <WebhookFields />
      <SignatureField />
    </FormDialog>
  );
}
