import type { ReactNode } from "react";
import { webhookTexts } from "../../texts/delivery-texts.ts";
import { SecretNote } from "../../ui/secret-note.tsx";

interface NewWebhookSecretProps {
  readonly secret: string;
  readonly onDone: () => void;
  /** Where to send a test. */
  readonly children?: ReactNode;
}

/** Shows the secret with which a receiver verifies, and what to do with it. */
export function NewWebhookSecret({ secret, onDone, children }: NewWebhookSecretProps) {
  return (
    <SecretNote title={webhookTexts.secretTitle} intro={webhookTexts.secretOnce} secret={secret} onDone={onDone}>
      <p>{webhookTexts.secretNext}</p>
      <p className="secret-line">
        <code translate="no">WEBHOOK_SECRET=whsec_... python3 examples/receiver.py --port 9000</code>
      </p>
      {children}
    </SecretNote>
  );
}
