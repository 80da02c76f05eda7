import { useMutation } from "@connectrpc/connect-query";
import { type Webhook, WebhooksService } from "../../../../gen/iam/v1alpha/webhook_pb.ts";
import { webhookTexts } from "../../texts/delivery-texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { SelectField, valueOf } from "../../ui/text-field.tsx";
import { readSignature, SignatureField } from "../webhooks/webhook-fields.tsx";

interface RotateDialogProps {
  /** As it was when somebody asked for another secret; undefined while nobody does. */
  readonly webhook: Webhook | undefined;
  readonly onClose: () => void;
  readonly onRotated: (webhook: Webhook) => void;
}

/** What the service takes if nothing else is said: a day. */
const usualOverlap = "86400";

/** Replaces the secret or the key of a webhook. */
export function RotateDialog({ webhook, onClose, onRotated }: RotateDialogProps) {
  const rotate = useMutation(WebhooksService.method.rotateWebhook, {
    // The secret stays in the screen that shows it, and goes with it.
    gcTime: 0,
  });
  const submit = async (form: FormData): Promise<void> => {
    const { path = "", etag = "" } = webhook ?? {};
    const overlap = { seconds: BigInt(valueOf(form, "overlap")) };
    onRotated(await rotate.mutateAsync({ path, etag, overlap, signature: readSignature(form) }));
    rotate.reset();
  };
  return (
    <FormDialog
      title={webhookTexts.rotate}
      intro={webhookTexts.rotateIntro}
      submit={webhookTexts.rotate}
      fields={["overlap", "signature"]}
      open={webhook !== undefined}
      onClose={onClose}
      onSubmit={submit}
    >
      <SelectField
        name="overlap"
        label={webhookTexts.overlap}
        choices={webhookTexts.overlaps}
        defaultValue={usualOverlap}
      />
      {webhook === undefined ? null : <SignatureField signature={webhook.signature} />}
    </FormDialog>
  );
}
