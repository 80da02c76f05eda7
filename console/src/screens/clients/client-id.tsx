import type { Client } from "../../../../gen/iam/v1alpha/client_pb.ts";
import { clientTexts } from "../../texts/sign-in-texts.ts";
import { CopyButton } from "../../ui/copy-button.tsx";

/** What OAuth calls a client. */
export function ClientId({ client: { id } }: { readonly client: Client }) {
  return (
    <>
      <code translate="no">{id}</code> <CopyButton text={id} label={clientTexts.copyId} />
    </>
  );
}

/** Where libraries find all addresses of the service that a client needs (OpenID Connect Discovery 1.0, 4). */
export function Discovery() {
  const url = `${location.origin}/.well-known/openid-configuration`;
  return (
    <>
      <code translate="no">{url}</code> <CopyButton text={url} label={clientTexts.copyDiscovery} />
    </>
  );
}
