import type { Client } from "../../../../gen/iam/v1alpha/client_pb.ts";
import { clientTexts } from "../../texts/sign-in-texts.ts";
import { listIn, TextAreaField } from "../../ui/text-field.tsx";

/** The names of the fields that `ClientFields` shows, as in the API. */
export const clientFields = ["redirect_uris", "scopes"] as const;

/** Returns what somebody has typed into `ClientFields`. */
export const readClientFields = (form: FormData) => ({
  redirectUris: listIn(form, "redirect_uris"),
  scopes: listIn(form, "scopes"),
});

/** Where a client sends people back to, and for what it may ask. */
export function ClientFields({ client }: { readonly client?: Client | undefined }) {
  const { redirectUris = [], scopes = [] } = client ?? {};
  return (
    <>
      <TextAreaField
        name="redirect_uris"
        label={clientTexts.redirectUris}
        hint={clientTexts.redirectUrisHint}
        defaultValue={redirectUris.join("\n")}
        rows={2}
        code
      />
      <TextAreaField
        name="scopes"
        label={clientTexts.scopes}
        hint={clientTexts.scopesHint}
        defaultValue={scopes.join("\n")}
        rows={2}
        code
      />
    </>
  );
}
