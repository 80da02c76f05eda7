import type { ApiKey } from "../../../../gen/iam/v1alpha/api_key_pb.ts";
import { texts } from "../../texts/texts.ts";
import { SecretNote } from "../../ui/secret-note.tsx";

/** Shows the secret of a new key, and what to do with it. */
export function NewSecret({ apiKey, onDone }: { readonly apiKey: ApiKey; readonly onDone: () => void }) {
  return (
    <SecretNote
      title={texts.keys.secretTitle}
      intro={texts.keys.secretOnce}
      secret={apiKey.secret ?? ""}
      onDone={onDone}
    >
      <p>{texts.keys.secretNext}</p>
      <p className="secret-line">
        <code translate="no">{`export TENANTRY_URL=${location.origin} TENANTRY_API_KEY=...`}</code>
      </p>
    </SecretNote>
  );
}
