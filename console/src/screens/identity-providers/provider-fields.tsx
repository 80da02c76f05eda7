import {
  type IdentityProvider,
  IdentityProvider_TokenEndpointAuthMethod as Method,
  IdentityProvider_TokenEndpointAuthMethodSchema as MethodSchema,
} from "../../../../gen/iam/v1alpha/identity_provider_pb.ts";
import { nameIn } from "../../texts/enum-words.ts";
import { providerTexts } from "../../texts/sign-in-texts.ts";
import { choicesOf, chosenIn } from "../../ui/enum-choices.ts";
import { listIn, SelectField, TextField, valueOf } from "../../ui/text-field.tsx";

/** The names of the fields that `ProviderFields` shows, as in the API. */
export const providerFields = ["client_secret", "scopes", "token_endpoint_auth_method", "email_trusted"] as const;

/** Returns what somebody has typed and chosen in `ProviderFields`. */
export const readProviderFields = (form: FormData) => ({
  clientSecret: valueOf(form, "client_secret"),
  scopes: listIn(form, "scopes"),
  tokenEndpointAuthMethod: chosenIn(form, "token_endpoint_auth_method", Method),
  emailTrusted: valueOf(form, "email_trusted") === "true",
});

/** How this service proves at the issuer who it is, and for what a sign-in asks. */
export function ProviderFields({ provider }: { readonly provider?: IdentityProvider | undefined }) {
  const method = provider?.tokenEndpointAuthMethod ?? Method.TOKEN_ENDPOINT_AUTH_METHOD_UNSPECIFIED;
  return (
    <>
      <TextField
        name="client_secret"
        label={providerTexts.clientSecret}
        hint={provider === undefined ? providerTexts.clientSecretHint : providerTexts.clientSecretKept}
        type="password"
      />
      <SelectField
        name="token_endpoint_auth_method"
        label={providerTexts.method}
        choices={choicesOf(providerTexts.methods)}
        defaultValue={nameIn(MethodSchema, method)}
      />
      <TextField
        name="scopes"
        label={providerTexts.scopes}
        hint={providerTexts.scopesHint}
        defaultValue={(provider?.scopes ?? []).join(" ")}
        spellCheck={false}
      />
      <SelectField
        name="email_trusted"
        label={providerTexts.emailTrusted}
        hint={providerTexts.emailTrustedHint}
        choices={Object.entries(providerTexts.emailTrustedChoices).map(([value, label]) => ({ value, label }))}
        defaultValue={String(provider?.emailTrusted ?? false)}
      />
    </>
  );
}
