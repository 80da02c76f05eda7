import {
  type IdentityProvider,
  IdentityProvider_TokenEndpointAuthMethod as Method,
  IdentityProvider_TokenEndpointAuthMethodSchema as MethodSchema,
} from "../../../../gen/iam/v1alpha/identity_provider_pb.ts";
import { nameIn } from "../../texts/enum-words.ts";
import { providerTexts } from "../../texts/sign-in-texts.ts";
import { choicesOf, chosenIn } from "../../ui/enum-choices.ts";
import { FirstSignInFields, firstSignInFields, readFirstSignIn } from "./first-sign-in-fields.tsx";
import { listIn, SelectField, TextField, valueOf } from "../../ui/text-field.tsx";

/** Its identity providers serve all orgs, and create members in none. */
const orgOfAll = "/orgs/system";

/** The names of the fields that `ProviderFields` shows, as in the API. */
export const providerFields = [
  "client_secret",
  "scopes",
  "token_endpoint_auth_method",
  "email_trusted",
  ...firstSignInFields,
] as const;

/** Returns what somebody has typed and chosen in `ProviderFields`. */
export const readProviderFields = (form: FormData) => ({
  clientSecret: valueOf(form, "client_secret"),
  scopes: listIn(form, "scopes"),
  tokenEndpointAuthMethod: chosenIn(form, "token_endpoint_auth_method", Method),
  emailTrusted: valueOf(form, "email_trusted") === "true",
  ...readFirstSignIn(form),
});

interface ProviderFieldsProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  readonly provider?: IdentityProvider | undefined;
}

/** How this service proves at the issuer who it is, for what a sign-in asks, and what becomes of people who are not linked. */
export function ProviderFields({ org, provider }: ProviderFieldsProps) {
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
      {org === orgOfAll ? null : <FirstSignInFields org={org} provider={provider} />}
    </>
  );
}
