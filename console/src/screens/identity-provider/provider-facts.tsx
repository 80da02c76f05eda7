import { Link } from "@tanstack/react-router";
import {
  type IdentityProvider,
  IdentityProvider_OnFirstSignIn as OnFirstSignIn,
  IdentityProvider_TokenEndpointAuthMethodSchema as MethodSchema,
} from "../../../../gen/iam/v1alpha/identity_provider_pb.ts";
import { nameOf, orgOf } from "../../calls/paths.ts";
import { wordIn } from "../../texts/enum-words.ts";
import { providerTexts } from "../../texts/sign-in-texts.ts";
import { texts } from "../../texts/texts.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { PathFacts } from "../../ui/path-facts.tsx";
import { PathLinks } from "../../ui/path-link.tsx";
import { Time } from "../../ui/time.tsx";

/** What an identity provider is, and what its issuer has to know of this service. */
export function ProviderFacts({ provider }: { readonly provider: IdentityProvider }) {
  const { id, path, issuer, clientId, subjectClaim, scopes, tokenEndpointAuthMethod, createTime } = provider;
  const creates = provider.onFirstSignIn === OnFirstSignIn.CREATE;
  const asked = creates ? [...new Set([...scopes, "email", "profile"])] : scopes;
  const redirectUri = `${location.origin}/sign-in/callback/${id}`;
  return (
    <Facts>
      <Fact title={providerTexts.redirectUri}>
        <code translate="no">{redirectUri}</code> <CopyButton text={redirectUri} label={providerTexts.copyUri} />
        <p className="quiet-text">{providerTexts.redirectUriHint}</p>
      </Fact>
      <Fact title={providerTexts.next}>
        <Link to="/orgs/$org/members" params={{ org: nameOf(orgOf(path)) }}>
          {texts.members.title}
        </Link>
        <p className="quiet-text">{creates ? providerTexts.nextHintIfCreated : providerTexts.nextHint}</p>
      </Fact>
      <Fact title={providerTexts.issuer}>
        <code translate="no">{issuer}</code>
      </Fact>
      <Fact title={providerTexts.clientId}>
        <code translate="no">{clientId}</code>
      </Fact>
      <Fact title={providerTexts.subjectClaim}>
        <code translate="no">{subjectClaim || "sub"}</code>
      </Fact>
      {creates ? <NewcomerFacts provider={provider} /> : null}
      <Fact title={providerTexts.method}>{wordIn(providerTexts.methods, MethodSchema, tokenEndpointAuthMethod)}</Fact>
      <Fact title={providerTexts.scopes}>
        {asked.length === 0 ? providerTexts.onlyOpenid : <code translate="no">{asked.join(" ")}</code>}
      </Fact>
      <PathFacts of={provider} />
      <Fact title={texts.columns.created}>
        <Time at={createTime} />
      </Fact>
    </Facts>
  );
}

/** Whom an identity provider lets in who is not linked, and by whose access. */
function NewcomerFacts({ provider }: { readonly provider: IdentityProvider }) {
  const { firstSignInCondition, firstSignInGroupPaths, firstSignInAuthorPath } = provider;
  return (
    <>
      <Fact title={providerTexts.condition}>
        <code translate="no">{firstSignInCondition}</code>
      </Fact>
      {firstSignInGroupPaths.length === 0 ? null : (
        <Fact title={providerTexts.newcomerGroups}>
          <PathLinks paths={firstSignInGroupPaths} />
        </Fact>
      )}
      <Fact title={providerTexts.author}>
        <PathLinks paths={[firstSignInAuthorPath]} />
      </Fact>
    </>
  );
}
