import type { Client } from "../../../../gen/iam/v1alpha/client_pb.ts";
import { clientTexts } from "../../texts/sign-in-texts.ts";
import { Fact, Facts } from "../../ui/facts.tsx";
import { SecretNote } from "../../ui/secret-note.tsx";
import { ClientId, Discovery } from "./client-id.tsx";

/** Shows the new secret of a client, and what else its application needs. */
export function NewClientSecret({ client, onDone }: { readonly client: Client; readonly onDone: () => void }) {
  return (
    <SecretNote
      title={clientTexts.secretTitle}
      intro={clientTexts.secretOnce}
      secret={client.secret ?? ""}
      onDone={onDone}
    >
      <Facts>
        <Fact title={clientTexts.id}>
          <ClientId client={client} />
        </Fact>
        <Fact title={clientTexts.discovery}>
          <Discovery />
        </Fact>
      </Facts>
    </SecretNote>
  );
}
