import { useMutation } from "@connectrpc/connect-query";
import { type Webhook, WebhooksService } from "../../../../gen/iam/v1alpha/webhook_pb.ts";
import { webhookTexts } from "../../texts/delivery-texts.ts";
import { secretTexts } from "../../texts/secret-texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { OverlapField, readOverlap } from "../../ui/overlap-field.tsx";
import { readSignature, SignatureField } from "../webhooks/webhook-fields.tsx";

interface RotateDialogProps {
  /** As it was when somebody asked for another secret; undefined while nobody does. */
  readonly webhook: Webhook | undefined;
  readonly onClose: () => void;
  readonly onRotated: (webhook: Webhook) => void;
}

/** Replaces the secret or the key of a webhook. */
export function RotateDialog({ webhook, onClose, onRotated }: RotateDialogProps) {
  const rotate = useMutation(WebhooksService.method.rotateWebhook, {
    // The secret stays in the screen that shows it, and goes with it.
    gcTime: 0,
  });
  const submit = async (form: FormData): Promise<void> => {
    const { path = "", etag = "" } = webhook ?? {};
    const request = { path, etag, overlap: readOverlap(form), signature: readSignature(form) };
    onRotated(await rotate.mutateAsync(request));
    rotate.reset();
  };
  return (
    <FormDialog
      title={secretTexts.rotate}
      intro={webhookTexts.rotateIntro}
      submit={secretTexts.rotate}
      fields={["overlap", "signature"]}
      open={webhook !== undefined}
      onClose={onClose}
      onSubmit={submit}
    >
      <OverlapField />
      {webhook === undefined ? null : <SignatureField signature={webhook.signature} />}
    </FormDialog>
  );
}
