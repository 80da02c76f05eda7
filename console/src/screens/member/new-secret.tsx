import type { ApiKey } from "../../../../gen/iam/v1alpha/api_key_pb.ts";
import { texts } from "../../texts/texts.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";

/** Shows the secret of a new key, which the service does not return again, and what to do with it. */
export function NewSecret({ apiKey, onDone }: { readonly apiKey: ApiKey; readonly onDone: () => void }) {
  const secret = apiKey.secret ?? "";
  return (
    <section className="note secret" aria-label={texts.keys.secretTitle}>
      <h3>{texts.keys.secretTitle}</h3>
      <p>{texts.keys.secretOnce}</p>
      <p className="secret-line">
        <code translate="no">{secret}</code>
        <CopyButton text={secret} label={texts.keys.copySecret} />
      </p>
      <p>{texts.keys.secretNext}</p>
      <p className="secret-line">
        <code translate="no">{`export TENANTRY_URL=${location.origin} TENANTRY_API_KEY=...`}</code>
      </p>
      <Button onClick={onDone}>{texts.keys.secretDone}</Button>
    </section>
  );
}
