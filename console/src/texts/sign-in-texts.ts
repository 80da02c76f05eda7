// What the screens about OAuth clients, identity providers and linked accounts say. They load it; the first page does not.
import type {
  IdentityProvider_OnFirstSignIn,
  IdentityProvider_TokenEndpointAuthMethod,
} from "../../../gen/iam/v1alpha/identity_provider_pb.ts";
import type { NamesOf } from "./enum-words.ts";

export const clientTexts = {
  title: "OAuth clients",
  one: "OAuth client",
  intro: "Applications that send people here to sign in, and then act as the member that has allowed it.",
  search: "Search clients",
  none: "There are no OAuth clients yet.",
  noneHint: "Create one for an application, with the address to which people come back after they have signed in.",
  noneFound: "No client has these words.",
  create: "New client",
  createIntro: "People read its display name before they allow it to act for them.",
  id: "Client ID",
  copyId: "Copy the client ID",
  type: "Kind",
  types: {
    true: "Confidential: it keeps a secret",
    false: "Public: an app or a page (PKCE)",
  },
  shortTypes: { true: "Confidential", false: "Public" },
  redirectUris: "Redirect URIs",
  redirectUrisHint:
    "One on each line, such as https://app.example.com/callback. A sign-in must name one of them exactly.",
  scopes: "Only for",
  scopesHint: "Permissions for which it may ask, such as iam.members.*. Empty: all.",
  allScopes: "All permissions",
  discovery: "OpenID configuration",
  copyDiscovery: "Copy the address",
  secretTitle: "The secret of the client",
  secretOnce: "It is shown once. Put it where the application reads it, with the client ID.",
  rotateIntro: "The secret before is accepted, too, for the time that you choose.",
  changeIntro:
    "What is taken away ends at once: sessions that began with a redirect URI, and scopes from the next refresh on.",
  deleteIntro: "It gets no more tokens, and those that it has are refused at once.",
};

export const providerTexts = {
  title: "Identity providers",
  one: "Identity provider",
  intro: "Where the members of this organisation sign in: an OpenID provider such as the directory of a company.",
  search: "Search identity providers",
  none: "This organisation has no identity provider of its own.",
  noneHint: "Create one with the issuer and the client that this service is there, then link the accounts of members.",
  noneFound: "No identity provider has these words.",
  create: "New identity provider",
  createIntro: "People read its display name on the page where they sign in.",
  issuer: "Issuer",
  issuerHint: "As its ID tokens name it, such as https://login.example.com/realms/acme.",
  clientId: "Client ID",
  clientIdHint: "What this service is called there.",
  clientSecret: "Client secret",
  clientSecretHint: "It is stored encrypted and never shown again. Empty: the client proves itself by PKCE alone.",
  clientSecretKept: "It is never shown. Empty: as before.",
  scopes: "Scopes",
  scopesHint: "What a sign-in asks for besides openid, such as profile.",
  onlyOpenid: "Only openid",
  method: "How the secret is sent",
  methods: {
    TOKEN_ENDPOINT_AUTH_METHOD_UNSPECIFIED: "As the issuer says",
    CLIENT_SECRET_BASIC: "In the Authorization header",
    CLIENT_SECRET_POST: "In the body",
  } satisfies Record<keyof typeof IdentityProvider_TokenEndpointAuthMethod, string>,
  emailTrusted: "Addresses for invitations",
  emailTrustedHint: "Trust them only if people cannot choose their address there themselves.",
  emailTrustedChoices: { false: "Those that the issuer calls verified", true: "All of them" },
  subjectClaim: "Who somebody is",
  subjectClaimHint:
    "The claim that says so for good, such as oid for Entra ID. Empty: sub. It cannot be changed later, nor be an address or a name.",
  onFirstSignIn: "Who is not linked",
  onFirstSignInHint: "What becomes of people who have an account there and are no members yet.",
  onFirstSignInChoices: {
    REFUSE: "Is refused",
    CREATE: "Becomes a member, by a rule",
  } satisfies Record<NamesOf<typeof IdentityProvider_OnFirstSignIn>, string>,
  condition: "Whom the rule lets in",
  conditionHint:
    'CEL over the claims, such as claims.hd == "acme.example" && "staff" in claims.groups. With true: everybody who can sign in there.',
  newcomerGroups: "Groups that they join",
  newcomerGroupsHint: "Add a group: they hold what it holds. You have to hold that, too, now and when they come.",
  author: "By the access of",
  redirectUri: "Redirect URI",
  redirectUriHint: "Register it at the issuer. Sign-ins are refused there until then.",
  copyUri: "Copy the URI",
  next: "Who signs in with it",
  nextHint: "Those whose account there is linked: open a member, then Sign-ins.",
  nextHintIfCreated:
    "Those whose account there is linked, and those whom the rule lets in: they become members when they come.",
  changeIntro: "Its issuer, client and claim cannot be changed: they say whom the linked accounts mean.",
  deleteIntro:
    "Members can no longer sign in with it. Their linked accounts are removed, and the sessions that began with them end.",
};

export const identityTexts = {
  link: "Link an account",
  linked: "Linked",
  linkIntro: "Whoever signs in with this account acts as this member.",
  provider: "Identity provider",
  noProvider: "The organisation has no identity provider. Create one first.",
  subject: "Subject",
  subjectHint:
    "The claim sub of its ID tokens, or the one that the provider has instead. The page after a sign-in that is not linked shows it.",
};
