import {
  type Webhook,
  Webhook_Format,
  Webhook_FormatSchema,
  Webhook_Signature,
  Webhook_SignatureSchema,
} from "../../../../gen/iam/v1alpha/webhook_pb.ts";
import { webhookTexts } from "../../texts/delivery-texts.ts";
import { nameIn } from "../../texts/enum-words.ts";
import { choicesOf, chosenIn } from "../../ui/enum-choices.ts";
import { SelectField, TextAreaField, TextField, valueOf } from "../../ui/text-field.tsx";

/** The names of the fields that `WebhookFields` shows, as in the API. */
export const webhookFields = ["url", "filter", "format", "hold_retention"] as const;

/** Returns what somebody has chosen in `WebhookFields`. */
export const readWebhookFields = (form: FormData) => ({
  url: valueOf(form, "url"),
  filter: valueOf(form, "filter"),
  format: chosenIn(form, "format", Webhook_Format),
  holdRetention: valueOf(form, "hold_retention") === "true",
});

const patienceChoices = [
  { value: "false", label: webhookTexts.patienceOf.giveUp },
  { value: "true", label: webhookTexts.patienceOf.hold },
];

/** What a webhook sends, where to, and for how long it tries. */
export function WebhookFields({ webhook }: { readonly webhook?: Webhook | undefined }) {
  const { url = "", filter = "", format = Webhook_Format.STANDARD, holdRetention = false } = webhook ?? {};
  return (
    <>
      <TextField
        name="url"
        label={webhookTexts.url}
        hint={webhookTexts.urlHint}
        defaultValue={url}
        spellCheck={false}
      />
      <TextAreaField
        name="filter"
        label={webhookTexts.filter}
        hint={webhookTexts.filterHint}
        defaultValue={filter}
        rows={2}
        code
      />
      <SelectField
        name="format"
        label={webhookTexts.format}
        choices={choicesOf(webhookTexts.formats)}
        defaultValue={nameIn(Webhook_FormatSchema, format)}
      />
      <SelectField
        name="hold_retention"
        label={webhookTexts.patience}
        choices={patienceChoices}
        defaultValue={String(holdRetention)}
      />
    </>
  );
}

export function SignatureField({
  signature = Webhook_Signature.HMAC_SHA256,
}: {
  readonly signature?: Webhook_Signature;
}) {
  return (
    <SelectField
      name="signature"
      label={webhookTexts.signature}
      choices={choicesOf(webhookTexts.signatures)}
      defaultValue={nameIn(Webhook_SignatureSchema, signature)}
    />
  );
}

export const readSignature = (form: FormData): Webhook_Signature => chosenIn(form, "signature", Webhook_Signature);
