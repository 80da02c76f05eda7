// The endpoints of invitations. A link has its secret in the fragment, so that a request for the page has none, and no log; the form of the page
// brings it, and a cookie keeps it while its person signs in. Neither the link nor the form changes anything: a program that checks mails
// may follow the one and send the other.
import type { Origin } from "../../changes/author.ts";
import type { Sealer } from "../../identity/sealer.ts";
import { parseSecretHandle } from "../../identity/secret-handle.ts";
import type { HttpRequest } from "../../http/http-messages.ts";
import type { OpenInvitation } from "../../iam/sign-in/invitation-store.ts";
import { type InvitedPerson, type Invitations, notOpenText } from "../../iam/sign-in/invitations.ts";
import type { LinkedIdentity } from "../../iam/sign-in/provider-store.ts";
import { type ProviderSignIn, type SignedInPerson, invitationPath } from "../../iam/sign-in/provider-sign-in.ts";
import { OAuthError, toOAuthError } from "../oauth/oauth-error.ts";
import { readForm, requiredParameter } from "../oauth/read-form.ts";
import { type BrowserResponse, type Endpoint, page, redirect } from "./browser-responses.ts";
import { clearCookie, invitationCookie, invitedCookie, readCookie, setCookie } from "./cookie.ts";
import { decisionPath, declinedPage, invitationPage, openInvitationPage } from "./invitation-page.ts";
import { requireSameOrigin } from "./require-same-origin.ts";
import { type Destination, home } from "./return-path.ts";

interface InvitationEndpointDependencies {
  readonly invitations: Invitations;
  readonly providerSignIn: Pick<ProviderSignIn, "list">;
  readonly sealer: Pick<Sealer, "seal" | "open">;
  readonly originOf: (request: HttpRequest) => Origin;
  /** Signs a browser in as the member of an identity, and sends it to a path. */
  readonly enterAs: (request: HttpRequest, identity: LinkedIdentity, returnPath: string) => Promise<BrowserResponse>;
}

interface InvitationEndpoints {
  readonly endpoints: Readonly<Record<string, Endpoint>>;
  /** Sends a browser back to its invitation whose person has signed in at a provider for it. */
  readonly meet: (request: HttpRequest, person: SignedInPerson) => BrowserResponse;
}

/** How long a person who has signed in may take to decide, and to sign in, in seconds. */
const personSeconds = 900;
const invitationSeconds = 3_600;

interface SealedPerson extends InvitedPerson {
  /** In milliseconds. */
  readonly expireTime: number;
}

export function createInvitationEndpoints(dependencies: InvitationEndpointDependencies): InvitationEndpoints {
  const { invitations, providerSignIn, sealer, originOf, enterAs } = dependencies;

  /** The person of a cookie, who has signed in for this invitation. */
  const readPerson = (request: HttpRequest, secret: string): InvitedPerson | undefined => {
    const [cookie, handle] = [readCookie(request, invitedCookie), parseSecretHandle(secret)];
    if (cookie === undefined || handle === undefined) return undefined;
    const opened = sealer.open("invited person", handle.id, Buffer.from(cookie, "base64url"));
    const person = opened && (JSON.parse(opened.toString()) as SealedPerson);
    return person !== undefined && person.expireTime > Date.now() ? person : undefined;
  };

  const show = async (
    request: HttpRequest,
    secret: string,
    invitation: OpenInvitation,
    problem?: string,
  ): Promise<string> => {
    const person = readPerson(request, secret);
    const destination: Destination = { returnPath: invitationPath, org: invitation.org_name };
    return invitationPage({
      invitation,
      destination,
      providers: await providerSignIn.list(invitation.org_name),
      person,
      unfit: person && (await invitations.findUnfit(invitation, person)),
      ...(problem !== undefined && { problem }),
    });
  };

  const openPage = async (request: HttpRequest): Promise<BrowserResponse> => {
    const secret = readCookie(request, invitationCookie);
    if (secret === undefined) return page(openInvitationPage());
    const invitation = await invitations.find(secret);
    if (invitation !== undefined) return page(await show(request, secret, invitation));
    return { ...page(openInvitationPage(notOpenText), { "Set-Cookie": forgotten }), status: 400 };
  };

  const takeCode = async (request: HttpRequest): Promise<BrowserResponse> => {
    requireSameOrigin(request);
    const code = requiredParameter(await readForm(request), "code").trim();
    if ((await invitations.find(code)) === undefined) return { ...page(openInvitationPage(notOpenText)), status: 400 };
    const kept = `${setCookie(code, invitationCookie)}; Max-Age=${invitationSeconds}`;
    return redirect(invitationPath, { "Set-Cookie": [kept, clearCookie(invitedCookie)] });
  };

  const decide = async (request: HttpRequest): Promise<BrowserResponse> => {
    requireSameOrigin(request);
    const decision = requiredParameter(await readForm(request), "decision");
    const secret = readCookie(request, invitationCookie) ?? "";
    const person = readPerson(request, secret);
    if (person === undefined) return redirect(invitationPath);
    try {
      switch (decision) {
        case "accept":
          return await accept(request, secret, person);
        case "decline":
          await invitations.decline(secret, person, originOf(request));
          return page(declinedPage(), { "Set-Cookie": forgotten });
        default:
          throw new OAuthError("invalid_request", "the decision must be accept or decline");
      }
    } catch (thrown) {
      const error = toOAuthError(thrown);
      // Its cause is logged where all errors end.
      if (error.error === "server_error") throw thrown;
      const invitation = await invitations.find(secret);
      const body =
        invitation === undefined
          ? openInvitationPage(notOpenText)
          : await show(request, secret, invitation, error.message);
      return { ...page(body, error.headers), status: error.status };
    }
  };

  const accept = async (request: HttpRequest, secret: string, person: InvitedPerson): Promise<BrowserResponse> => {
    const identity = await invitations.accept(secret, person, originOf(request));
    // Who may not see the org yet finds there what it may do.
    const entered = await enterAs(request, identity, home);
    const cookies = [entered.headers["Set-Cookie"] ?? [], forgotten].flat();
    return { ...entered, headers: { ...entered.headers, "Set-Cookie": cookies } };
  };

  return {
    endpoints: {
      [invitationPath]: {
        methods: ["GET", "POST"],
        answer: (request) => (request.method === "POST" ? takeCode(request) : openPage(request)),
        fail: failOnPage,
      },
      [decisionPath]: { methods: ["POST"], answer: decide, fail: failOnPage },
    },

    meet(request, { subject, providerId, providerName, claims }) {
      const handle = parseSecretHandle(readCookie(request, invitationCookie) ?? "");
      if (handle === undefined) return redirect(invitationPath);
      const person: SealedPerson = {
        subject,
        providerId,
        providerName,
        claims,
        expireTime: Date.now() + personSeconds * 1000,
      };
      const sealed = sealer.seal("invited person", handle.id, Buffer.from(JSON.stringify(person)));
      const cookie = `${setCookie(sealed.toString("base64url"), invitedCookie)}; Max-Age=${personSeconds}`;
      return redirect(invitationPath, { "Set-Cookie": cookie });
    },
  };
}

/** What makes a browser forget an invitation, and who has signed in for it. */
const forgotten: readonly string[] = [clearCookie(invitationCookie), clearCookie(invitedCookie)];

function failOnPage(error: OAuthError): BrowserResponse {
  return { ...page(openInvitationPage(error.message)), status: error.status };
}
