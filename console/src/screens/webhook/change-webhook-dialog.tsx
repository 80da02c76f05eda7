import { useMutation } from "@connectrpc/connect-query";
import { type Webhook, WebhooksService } from "../../../../gen/iam/v1alpha/webhook_pb.ts";
import { deliveryTexts } from "../../texts/delivery-texts.ts";
import { texts } from "../../texts/texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { TextAreaField, TextField, valueOf } from "../../ui/text-field.tsx";
import { readWebhookFields, WebhookFields, webhookFields } from "../webhooks/webhook-fields.tsx";

interface ChangeWebhookDialogProps {
  /** As it was when somebody asked to change it; undefined while nobody does. */
  readonly webhook: Webhook | undefined;
  readonly onClose: () => void;
}

const fields = ["display_name", "description", ...webhookFields];

export function ChangeWebhookDialog({ webhook, onClose }: ChangeWebhookDialogProps) {
  const update = useMutation(WebhooksService.method.updateWebhook);
  const { path = "", etag = "", displayName = "", description = "" } = webhook ?? {};
  const submit = (form: FormData): Promise<unknown> => {
    const names = { displayName: valueOf(form, "display_name"), description: valueOf(form, "description") };
    return update.mutateAsync({
      path,
      webhook: { ...names, ...readWebhookFields(form), etag },
      updateMask: { paths: fields },
    });
  };
  return (
    <FormDialog
      title={
        <>
          {deliveryTexts.change} <bdi>{displayName || webhook?.name}</bdi>
        </>
      }
      intro={deliveryTexts.changeIntro}
      submit={deliveryTexts.save}
      fields={fields}
      open={webhook !== undefined}
      onClose={onClose}
      onSubmit={submit}
    >
      <WebhookFields webhook={webhook} />
      <TextField
        name="display_name"
        label={texts.fields.displayName}
        hint={texts.fields.displayNameHint}
        defaultValue={displayName}
      />
      <TextAreaField name="description" label={texts.fields.description} defaultValue={description} />
    </FormDialog>
  );
}
