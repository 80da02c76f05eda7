// What the endpoints for browsers do with the cookie of a request.
import type { Logger } from "pino";
import type { Origin } from "../../changes/author.ts";
import type { BrowserSession, BrowserSessions } from "../../iam/sign-in/browser-sessions.ts";
import type { LinkedIdentity } from "../../iam/sign-in/provider-store.ts";
import type { SignedInPerson } from "../../iam/sign-in/provider-sign-in.ts";
import type { SignInChoice, SignInChoices } from "../../iam/sign-in/sign-in-choices.ts";
import type { BrowserSessionKey } from "../../iam/sign-in/store.ts";
import { waitAtMost } from "../../timers/wait-at-most.ts";
import type { HttpRequest } from "../../http/http-messages.ts";
import { type BrowserResponse, page, redirect } from "./browser-responses.ts";
import { clearCookie, readCookie, setCookie } from "./cookie.ts";
import { signedOutPage } from "./pages.ts";
import { type Destination, choicePath } from "./return-path.ts";

interface StepDependencies {
  readonly browserSessions: BrowserSessions;
  readonly signInChoices: SignInChoices;
  readonly originOf: (request: HttpRequest) => Origin;
  readonly logger: Logger;
}

interface SignInSteps {
  /** Returns as whom a browser is signed in; undefined for nobody. */
  readonly find: (request: HttpRequest) => Promise<BrowserSession | undefined>;
  /** Returns what a browser may still choose. */
  readonly findChoices: (request: HttpRequest) => Promise<readonly SignInChoice[]>;
  /**
   * Ends the earlier sign-in of a browser before a new one. Its cookie, which somebody else may know, ends at once. Its sessions end within
   * a bounded wait, because an org can delay their end.
   */
  readonly endBefore: (request: HttpRequest) => Promise<void>;
  /**
   * Lets a person who signed in at a provider choose a member. Who has nothing to choose, but one member and nothing to accept, is
   * signed in at once.
   */
  readonly enter: (request: HttpRequest, person: SignedInPerson, destination: Destination) => Promise<BrowserResponse>;
  /** Signs a browser in as the member of one identity, and sends it to a path. */
  readonly enterAs: (request: HttpRequest, identity: LinkedIdentity, returnPath: string) => Promise<BrowserResponse>;
  /**
   * Signs a browser out. What fails in one org leaves neither the browser nor the sessions of other orgs signed in.
   *
   * @param answer what to answer when all has ended; by default, the browser goes to the sign-in.
   */
  readonly signOut: (
    request: HttpRequest,
    answer?: (headers: BrowserResponse["headers"]) => BrowserResponse,
  ) => Promise<BrowserResponse>;
}

/** How long a new sign-in waits for the orgs of the one that the browser had. */
const maxWaitMs = 1_000;

export function createSignInSteps(dependencies: StepDependencies): SignInSteps {
  const { browserSessions, signInChoices, originOf, logger } = dependencies;

  const find = async (request: HttpRequest): Promise<BrowserSession | undefined> => {
    const cookie = readCookie(request);
    return cookie === undefined ? undefined : browserSessions.find(cookie);
  };

  const forget = async (request: HttpRequest): Promise<BrowserSessionKey[]> => {
    const cookie = readCookie(request);
    return cookie === undefined ? [] : browserSessions.forget(cookie);
  };

  const findChoices = async (request: HttpRequest): Promise<readonly SignInChoice[]> => {
    const cookie = readCookie(request);
    return cookie === undefined ? [] : signInChoices.find(cookie);
  };

  const endBefore = async (request: HttpRequest): Promise<void> => {
    const ending = browserSessions.end(await forget(request), originOf(request)).catch((err: unknown) => {
      logger.error({ err }, "a session of the sign-in that a browser had before could not be ended");
    });
    await waitAtMost(maxWaitMs, ending);
  };

  const enter: SignInSteps["enter"] = async (request, { identities, org }, destination) => {
    await endBefore(request);
    const cookie = await signInChoices.offer(identities);
    // The next sign-in of the browser offers the providers of this org, too.
    const remembered = org === undefined ? [] : [setCookie(org, "__Host-tenantry-org")];
    const headers = { "Set-Cookie": [setCookie(cookie), ...remembered] };
    const choices = await signInChoices.find(cookie);
    const [only, ...others] = choices.filter(({ state }) => state !== "DECLINED");
    if (only?.state !== "ACCEPTED" || others.length > 0) return redirect(choicePath(destination), headers);
    await signInChoices.choose(cookie, only.id, false, originOf(request));
    return redirect(destination.returnPath, headers);
  };

  const enterAs: SignInSteps["enterAs"] = async (request, identity, returnPath) => {
    await endBefore(request);
    const cookie = await signInChoices.offer([identity]);
    await signInChoices.choose(cookie, identity.identityId, false, originOf(request));
    return redirect(returnPath, { "Set-Cookie": setCookie(cookie) });
  };

  const signOut: SignInSteps["signOut"] = async (request, answer = (headers) => redirect("/sign-in", headers)) => {
    const keys = await forget(request);
    const headers = { "Set-Cookie": clearCookie() };
    try {
      await browserSessions.end(keys, originOf(request));
      return answer(headers);
    } catch (err) {
      logger.error({ err }, "a session of a browser that signed out could not be ended");
      return { ...page(signedOutPage(), headers), status: 503 };
    }
  };

  return { find, findChoices, endBefore, enter, enterAs, signOut };
}
