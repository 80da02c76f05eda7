// The endpoints with which browsers sign in and out, and the pages of an account. They and the session of the console, which sells access
// tokens, are the only ones that read the cookie; the API takes bearer credentials only.
import { readFileSync } from "node:fs";
import type { Logger } from "pino";
import type { Origin } from "../../changes/author.ts";
import type { Database } from "../../database/database.ts";
import type { Account } from "../../iam/account/account.ts";
import type { BrowserSession, BrowserSessions } from "../../iam/sign-in/browser-sessions.ts";
import type { ContactConfirmations } from "../../iam/contacts/confirmations.ts";
import type { Invitations } from "../../iam/sign-in/invitations.ts";
import type { FirstSignIns } from "../../iam/sign-in/first-sign-ins.ts";
import type { ProviderSignIn } from "../../iam/sign-in/provider-sign-in.ts";
import type { SignInChoices } from "../../iam/sign-in/sign-in-choices.ts";
import { redeemSignInLink } from "../../iam/sign-in/sign-in-links.ts";
import type { Sealer } from "../../identity/sealer.ts";
import { closeAfterEarlyAnswer } from "../../http/listener/close-after-early-answer.ts";
import { folderWith } from "../../http/folder-with.ts";
import type { HttpRequest, HttpResponse } from "../../http/http-messages.ts";
import { type NoteSignIns, finishAtProvider } from "../note-sign-ins.ts";
import type { OAuthDependencies } from "../oauth/oauth-endpoints.ts";
import { type OAuthError, errorParameters, toOAuthError } from "../oauth/oauth-error.ts";
import { readForm, requiredParameter } from "../oauth/read-form.ts";
import { readQuery } from "../oauth/read-parameters.ts";
import { requireMethod } from "../oauth/require-method.ts";
import { requestPathOf } from "../../http/request-path.ts";
import { createAccountEndpoints } from "./account-endpoints.ts";
import { type BrowserResponse, type Endpoint, json, page, redirect, send } from "./browser-responses.ts";
import { createAuthorizeEndpoints } from "../consent/authorize-endpoints.ts";
import { createChoiceEndpoint } from "./choice-endpoint.ts";
import { createContactEndpoints } from "./contact-endpoints.ts";
import { createInvitationEndpoints } from "./invitation-endpoints.ts";
import { clearCookie, readCookie, setCookie, setStartCookie, startCookie } from "./cookie.ts";
import { missingPage, signInPage } from "./pages.ts";
import { unlinkedPage } from "./unlinked-pages.ts";
import { requireSameOrigin } from "./require-same-origin.ts";
import {
  type Destination,
  atHome,
  choicePath,
  home,
  readDestination,
  readOrgName,
  readReturnPath,
  signInPath,
} from "./return-path.ts";
import { afterUse, createSignInForm, failOnPage, sayOnPage } from "./sign-in-form.ts";
import { createSignInSteps } from "./sign-in-steps.ts";

export interface SignInDependencies {
  readonly database: Database;
  readonly browserSessions: BrowserSessions;
  readonly account: Account;
  readonly providerSignIn: ProviderSignIn;
  readonly firstSignIns: FirstSignIns;
  readonly signInChoices: SignInChoices;
  readonly invitations: Invitations;
  readonly contactConfirmations: ContactConfirmations;
  readonly sealer: Pick<Sealer, "seal" | "open">;
  readonly noteSignIns: Pick<NoteSignIns, "failed" | "watch">;
  readonly count: OAuthDependencies["count"];
  readonly originOf: (request: HttpRequest) => Origin;
  readonly issuer: () => string;
  readonly systemOrgId: string;
  /** All permissions of this service. */
  readonly knownPermissions: readonly string[];
  readonly logger: Logger;
}

/** Answers a request, or returns undefined if it is for another path. */
type AnswerSignIn = (request: HttpRequest, response: HttpResponse) => Promise<void> | undefined;

const callbackPattern = /^\/sign-in\/callback\/([^/]*)$/;

/** Where people look for pages. */
const pagePattern = /^\/(account|sign-in|sign-out)\//;

export function createSignInEndpoints(dependencies: SignInDependencies): AnswerSignIn {
  const { providerSignIn, signInChoices, originOf, logger } = dependencies;

  const { find, findChoices, endBefore, enter, enterAs, signOut } = createSignInSteps(dependencies);
  const ofInvitations = createInvitationEndpoints({ ...dependencies, enterAs });

  /** Where a provider sends the browser back. Only the cookie of this sign-in is cleared: other tabs have their own. */
  const callback = (providerId: string): Endpoint => ({
    methods: ["GET"],
    async answer(request) {
      const query = readQuery(request);
      const state = query.get("state") ?? "";
      const cookie = readCookie(request, startCookie(state));
      const destination = providerSignIn.destinationOf(state, cookie) ?? { ...atHome, org: lastOrg(request) };
      const outcome = await sayOnPage(providerSignIn, destination, () =>
        afterUse("sign in again", async () => {
          const person = await finishAtProvider(dependencies, originOf(request), [providerId, query, cookie]);
          if (person.claims !== undefined) return ofInvitations.meet(request, person);
          if (person.identities.length > 0) return enter(request, person, destination);
          return { ...page(unlinkedPage(person, destination)), status: 403 };
        }),
      );
      return withCookie(outcome, clearCookie(startCookie(state)));
    },
    fail: failOnPage,
  });

  /** Returns an endpoint with a page for browsers that are signed in. Others are sent to the sign-in, or to choose a member. */
  const pageOf = (write: (session: BrowserSession, request: HttpRequest) => string | Promise<string>): Endpoint => ({
    methods: ["GET"],
    async answer(request) {
      const session = await find(request);
      if (session !== undefined) return page(await write(session, request));
      const destination = { ...atHome, returnPath: readReturnPath(request.url ?? "") ?? home };
      const choices = await findChoices(request);
      return redirect(choices.length > 0 ? choicePath(destination) : signInPath(destination));
    },
    fail: failOnPage,
  });

  const endpoints: Readonly<Record<string, Endpoint>> = {
    ...createAuthorizeEndpoints({ ...dependencies, findSession: find, findChoices }),

    ...ofInvitations.endpoints,
    ...createContactEndpoints(dependencies.contactConfirmations),

    "/sign-in/choice": createChoiceEndpoint({
      signInChoices,
      isSignedIn: async (request) => (await find(request)) !== undefined,
      originOf,
    }),

    "/sign-in": {
      methods: ["GET"],
      async answer(request) {
        const destination = readWanted(request);
        return page(signInPage({ destination, providers: await providerSignIn.list(destination.org) }));
      },
      fail: failOnPage,
    },

    "/sign-in/start": createStartForm(providerSignIn),
    "/sign-in/code": createCodeForm(dependencies, endBefore),

    "/sign-out": createSignOutForm(signOut),

    ...createAccountEndpoints({ ...dependencies, find, findChoices, pageOf, signOut, fail: failOnPage }),
    ...formerPages,
    "/sign-in/take-code.js": file("take-code.js", "text/javascript; charset=utf-8"),
    "/sign-in/account.css": file("account.css", "text/css; charset=utf-8"),
  };

  const answer = async (endpoint: Endpoint, request: HttpRequest, response: HttpResponse): Promise<void> => {
    closeAfterEarlyAnswer(request, response);
    try {
      requireMethod(request, endpoint.methods);
      send(response, await endpoint.answer(request));
    } catch (thrown) {
      if (response.headersSent) throw thrown;
      const error = toOAuthError(thrown);
      if (error.error === "server_error") logger.error({ err: thrown }, "a request of a sign-in failed");
      const { status, headers, body } = (endpoint.fail ?? failAsJson)(error);
      send(response, { status, headers: { ...headers, ...error.headers }, body });
    }
  };

  return (request, response) => {
    const path = requestPathOf(request.url ?? "");
    const [, providerId] = callbackPattern.exec(path) ?? [];
    if (providerId !== undefined) return answer(callback(providerId), request, response);
    const endpoint = Object.hasOwn(endpoints, path) ? endpoints[path] : missingAt(path);
    return endpoint && answer(endpoint, request, response);
  };
}

const createSignOutForm = (signOut: (request: HttpRequest) => Promise<BrowserResponse>): Endpoint => ({
  methods: ["POST"],
  async answer(request) {
    requireSameOrigin(request);
    await readForm(request);
    return signOut(request);
  },
  fail: failOnPage,
});

/** Returns the endpoint that sends a browser to a provider. */
const createStartForm = (providerSignIn: ProviderSignIn): Endpoint =>
  createSignInForm(providerSignIn, async (form, destination, request) => {
    const again = form.get("again") === "1";
    const { url, state, cookie } = await providerSignIn.start(requiredParameter(form, "provider"), destination, again);
    return redirect(url.href, { "Set-Cookie": setStartCookie(request, state, cookie) });
  });

/** Returns the endpoint that signs a browser in with a one-time code. */
function createCodeForm(
  { database, providerSignIn, browserSessions, originOf }: SignInDependencies,
  endBefore: (request: HttpRequest) => Promise<void>,
): Endpoint {
  return createSignInForm(providerSignIn, async (form, { returnPath }, request) => {
    const member = await redeemSignInLink(database, requiredParameter(form, "code"));
    const cookie = await afterUse("the code is used up: sign in with another one", async () => {
      await endBefore(request);
      return browserSessions.start(member, originOf(request));
    });
    return redirect(returnPath, { "Set-Cookie": setCookie(cookie) });
  });
}

/** Returns the endpoint for a path at which people would look for a page; undefined for others. */
function missingAt(path: string): Endpoint | undefined {
  if (!pagePattern.test(path)) return undefined;
  return {
    methods: ["GET", "POST"],
    async answer() {
      return { ...page(missingPage(path)), status: 404 };
    },
    fail: failOnPage,
  };
}

/** Returns an answer that also sets a cookie. */
function withCookie({ headers, ...answer }: BrowserResponse, cookie: string): BrowserResponse {
  return { ...answer, headers: { ...headers, "Set-Cookie": [headers["Set-Cookie"] ?? [], cookie].flat() } };
}

/** Returns where the sign-in page of a request leads. Without an org, the providers of the last one are offered. */
function readWanted(request: HttpRequest): Destination {
  const asked = readDestination(readQuery(request));
  return { ...asked, org: asked.org ?? lastOrg(request) };
}

/** Returns the org at whose identity provider the browser last signed in; undefined for none. */
function lastOrg(request: HttpRequest): string | undefined {
  return readOrgName(readCookie(request, "__Host-tenantry-org"));
}

function failAsJson(error: OAuthError): BrowserResponse {
  return json(error.status, errorParameters(error));
}

const toConsole: Endpoint = { methods: ["GET"], answer: async () => redirect(`${home}me`) };

/** Pages that there were before the console had what they did. */
const formerPages: Readonly<Record<string, Endpoint>> = { "/account/keys": toConsole, "/account/keys/new": toConsole };

/** A file in `docs/browser`, which is read when it is first asked for. */
function file(name: string, type: string): Endpoint {
  let body: Buffer | undefined;
  return {
    methods: ["GET"],
    async answer() {
      body ??= readFileSync(new URL(`docs/browser/${name}`, folderWith("docs/browser")));
      return { status: 200, headers: { "Content-Type": type }, body };
    },
  };
}
