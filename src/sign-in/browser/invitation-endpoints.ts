// The endpoints of invitations. A link has its secret in the fragment, so that a request for the page has none, and no log; the form of the page
// brings it, and a cookie keeps it while its person signs in. Neither the link nor the form changes anything: a program that checks mails
// may follow the one and send the other.
import type { Origin } from "../../changes/author.ts";
import type { Sealer } from "../../identity/sealer.ts";
import type { HttpRequest } from "../../http/http-messages.ts";
import { parseSecretHandle } from "../../identity/secret-handle.ts";
import type { OpenInvitation } from "../../iam/sign-in/open-invitations.ts";
import { type InvitedPerson, type Invitations, notOpenText } from "../../iam/sign-in/invitations.ts";
import type { LinkedIdentity } from "../../iam/sign-in/provider-store.ts";
import { type ProviderSignIn, type SignedInPerson, invitationPath } from "../../iam/sign-in/provider-sign-in.ts";
import { OAuthError, toOAuthError } from "../oauth/oauth-error.ts";
import { readForm, requiredParameter } from "../oauth/read-form.ts";
import { type BrowserResponse, type Endpoint, page, redirect } from "./browser-responses.ts";
import { clearCookie, invitationCookie, invitedCookie, readCookie, setCookie } from "./cookie.ts";
import { decisionPath, declinedPage, invitationPage, openInvitationPage } from "./invitation-page.ts";
import { type InvitedPeople, createInvitedPeople } from "./invited-people.ts";
import { requireSameOrigin } from "./require-same-origin.ts";
import { home } from "./return-path.ts";

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

/** How long a browser keeps an invitation that it has opened, in seconds. */
const invitationSeconds = 3_600;

/** Returns the page of an invitation that a browser has opened. */
type Show = (request: HttpRequest, secret: string, invitation: OpenInvitation, problem?: string) => Promise<string>;

export function createInvitationEndpoints(dependencies: InvitationEndpointDependencies): InvitationEndpoints {
  const { invitations, providerSignIn, sealer } = dependencies;
  const people = createInvitedPeople(sealer);

  const show: Show = async (request, secret, invitation, problem) => {
    const person = people.read(request, secret);
    const unfit = person && (await invitations.findUnfit(invitation, person));
    // Who has the link alone is not told them.
    const groups = person === undefined || unfit !== undefined ? [] : await invitations.groupsOf(invitation);
    return invitationPage({
      invitation,
      destination: { returnPath: invitationPath, org: invitation.org_name },
      providers: await providerSignIn.list(invitation.org_name),
      person,
      unfit,
      groups: groups.map((group) => group.display_name),
      ...(problem !== undefined && { problem }),
    });
  };

  const openPage = async (request: HttpRequest): Promise<BrowserResponse> => {
    const secret = readCookie(request, invitationCookie);
    if (secret === undefined) return page(openInvitationPage());
    const invitation = await invitations.find(secret);
    if (invitation !== undefined) return page(await show(request, secret, invitation));
    return { ...page(openInvitationPage(notOpenText, true), { "Set-Cookie": forgotten }), status: 400 };
  };

  const takeCode = async (request: HttpRequest): Promise<BrowserResponse> => {
    requireSameOrigin(request);
    const code = requiredParameter(await readForm(request), "code").trim();
    if ((await invitations.find(code)) === undefined) return { ...page(openInvitationPage(notOpenText)), status: 400 };
    const kept = `${setCookie(code, invitationCookie)}; Max-Age=${invitationSeconds}`;
    // Who opens the same link once more stays signed in for it.
    const isSame = code === readCookie(request, invitationCookie);
    return redirect(invitationPath, { "Set-Cookie": isSame ? [kept] : [kept, clearCookie(invitedCookie)] });
  };

  return {
    endpoints: {
      [invitationPath]: {
        methods: ["GET", "POST"],
        answer: (request) => (request.method === "POST" ? takeCode(request) : openPage(request)),
        fail: failOnPage,
      },
      [decisionPath]: { methods: ["POST"], answer: createDecide(dependencies, people, show), fail: failOnPage },
    },

    meet(request, person) {
      const cookie = people.keep(person, readCookie(request, invitationCookie) ?? "");
      return redirect(invitationPath, cookie === undefined ? {} : { "Set-Cookie": cookie });
    },
  };
}

/** Returns what answers the decision of a person. */
function createDecide(
  { invitations, originOf, enterAs }: InvitationEndpointDependencies,
  people: InvitedPeople,
  show: Show,
): Endpoint["answer"] {
  const carryOut = async (request: HttpRequest, decision: string, secret: string, person: InvitedPerson) => {
    switch (decision) {
      case "accept": {
        const identity = await invitations.accept(secret, person, originOf(request));
        // Who may not see the org yet finds there what it may do.
        const entered = await enterAs(request, identity, home);
        const cookies = [entered.headers["Set-Cookie"] ?? [], forgotten].flat();
        return { ...entered, headers: { ...entered.headers, "Set-Cookie": cookies } };
      }
      case "decline":
        await invitations.decline(secret, person, originOf(request));
        return page(declinedPage(), { "Set-Cookie": forgotten });
      default:
        throw new OAuthError("invalid_request", "the decision must be accept or decline");
    }
  };

  return async (request) => {
    requireSameOrigin(request);
    const form = await readForm(request);
    const [decision, decidedId] = [requiredParameter(form, "decision"), requiredParameter(form, "invitation")];
    const secret = readCookie(request, invitationCookie);
    if (secret === undefined) return redirect(invitationPath);
    try {
      if (parseSecretHandle(secret)?.id !== decidedId) throw new OAuthError("invalid_request", otherOpenedText);
      const person = people.read(request, secret);
      if (person === undefined) return redirect(invitationPath);
      return await carryOut(request, decision, secret, person);
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
}

/** What a person is told whose page shows another invitation than the browser has opened since, such as in another tab. */
const otherOpenedText = "Nothing was decided: this browser has opened another invitation since, which is the one below";

/** What makes a browser forget an invitation, and who has signed in for it. */
const forgotten: readonly string[] = [clearCookie(invitationCookie), clearCookie(invitedCookie)];

function failOnPage(error: OAuthError): BrowserResponse {
  return { ...page(openInvitationPage(error.message)), status: error.status };
}
