import type { ApiKey } from "../../../../gen/iam/v1alpha/api_key_pb.ts";
import { texts } from "../../texts/texts.ts";
import { SecretsNote } from "../../ui/secrets-note.tsx";

interface NewSecretsProps {
  readonly apiKeys: readonly ApiKey[];
  readonly onDone: () => void;
}

/** Shows the secrets of new keys, and what to do with them. */
export function NewSecrets({ apiKeys, onDone }: NewSecretsProps) {
  return (
    <SecretsNote title={texts.keys.secretTitle} intro={texts.keys.secretOnce} secrets={apiKeys} onDone={onDone}>
      <p>{texts.keys.secretNext}</p>
      <p className="secret-line">
        <code translate="no">{`export TENANTRY_URL=${location.origin} TENANTRY_API_KEY=...`}</code>
      </p>
    </SecretsNote>
  );
}
