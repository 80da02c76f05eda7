// The authorization endpoint (RFC 6749, 3.1): a client sends a browser here, a person allows the client to act for them, and the browser
// brings the client a code. Like those in `sign-in/browser`, these endpoints read the cookie of the sign-in.
import type { Database } from "../../database/database.ts";
import { issueCode } from "../../iam/authorization-codes/issue-code.ts";
import { type RegisteredClient, findRegisteredClient } from "../../iam/clients/registered-client.ts";
import type { BrowserSession } from "../../iam/sign-in/browser-sessions.ts";
import type { SignInChoice } from "../../iam/sign-in/sign-in-choices.ts";
import type { HttpRequest } from "../../http/http-messages.ts";
import { type OAuthDependencies, oauthPaths } from "../oauth/oauth-endpoints.ts";
import { errorParameters } from "../oauth/oauth-error.ts";
import { readForm, requiredParameter } from "../oauth/read-form.ts";
import { readParameters, readQuery } from "../oauth/read-parameters.ts";
import { type BrowserResponse, type Endpoint, page, redirect } from "../browser/browser-responses.ts";
import { requireSameOrigin } from "../browser/require-same-origin.ts";
import { type Destination, choicePath, signInPath } from "../browser/return-path.ts";
import { consentPage, problemPage } from "./pages.ts";
import {
  AuthorizationError,
  type ReplyTo,
  askedParameter,
  formatReply,
  givenParameters,
  isSilent,
  mustSignIn,
  readAuthorization,
  readReplyTo,
} from "./read-authorization.ts";

interface AuthorizeDependencies {
  readonly database: Database;
  readonly issuer: () => string;
  /** The org whose clients serve the members of all orgs. */
  readonly systemOrgId: string;
  /** All permissions of this service. */
  readonly knownPermissions: readonly string[];
  readonly findSession: (request: HttpRequest) => Promise<BrowserSession | undefined>;
  /** Returns the members as whom the browser can be signed in, and is not yet. */
  readonly findChoices: (request: HttpRequest) => Promise<readonly SignInChoice[]>;
  readonly count: OAuthDependencies["count"];
}

/** Creates what depends on which members a client serves: those of its org, or of all orgs. */
function createWays(systemOrgId: string) {
  const servedBy = <Member extends { readonly orgId: string }>(
    client: RegisteredClient,
    members: readonly Member[],
  ): readonly Member[] => members.filter(({ orgId }) => client.org_id === systemOrgId || client.org_id === orgId);

  /** Returns the way back to a request, with the providers of the client's org. */
  const wayTo = ({ org_id: orgId, org_name: org }: RegisteredClient, query: URLSearchParams): Destination => ({
    returnPath: `${oauthPaths.authorize}?${query.toString()}`,
    org: orgId === systemOrgId ? undefined : org,
  });

  /** Sends a browser to the sign-in, and then back to the request, for which only this sign-in counts if it asks for one. */
  const askToSignIn = (client: RegisteredClient, query: URLSearchParams): BrowserResponse => {
    const next = new URLSearchParams(query);
    next.delete(askedParameter);
    if (query.has("prompt") || query.has("max_age")) next.set(askedParameter, String(Math.ceil(client.now)));
    return redirect(signInPath(wayTo(client, next)));
  };

  return { servedBy, wayTo, askToSignIn };
}

export function createAuthorizeEndpoints(dependencies: AuthorizeDependencies): Readonly<Record<string, Endpoint>> {
  const { database, issuer, systemOrgId, knownPermissions, findSession, findChoices, count } = dependencies;

  const findReplyTo = (query: URLSearchParams): Promise<ReplyTo> =>
    readReplyTo((id) => findRegisteredClient(database.reads, id), query);

  const { servedBy, wayTo, askToSignIn } = createWays(systemOrgId);

  /** Answers a request that no page may be shown for. So it can send a browser on before anybody signs in. */
  const answerSilently = async (request: HttpRequest, replyTo: ReplyTo, query: URLSearchParams): Promise<never> => {
    const authorization = readAuthorization(replyTo, query, knownPermissions);
    const session = await findSession(request);
    const isSignedIn = session !== undefined && !mustSignIn(authorization, session);
    const error = isSignedIn ? "consent_required" : "login_required";
    throw new AuthorizationError(replyTo, error, "the person must see a page of the service");
  };

  const ask = async (request: HttpRequest, query: URLSearchParams): Promise<BrowserResponse> => {
    const replyTo = await findReplyTo(query);
    if (isSilent(query)) return answerSilently(request, replyTo, query);
    const { client } = replyTo;
    const session = await findSession(request);
    const choices = servedBy(client, await findChoices(request));
    const members = servedBy(client, session?.members ?? []);
    const here = wayTo(client, query);
    if (members.length === 0) {
      if (choices.length > 0) return redirect(choicePath(here));
      return session === undefined ? askToSignIn(client, query) : notServed(client, here);
    }
    // Whatever is wrong with its request, a client learns it only of a person that it serves (RFC 9700, 4.11.2).
    const authorization = readAuthorization(replyTo, query, knownPermissions);
    if (session === undefined || mustSignIn(authorization, session)) return askToSignIn(client, query);
    return page(consentPage(authorization, members, query.toString(), choices.length > 0 ? here : undefined));
  };

  const decide = async (request: HttpRequest): Promise<BrowserResponse> => {
    requireSameOrigin(request);
    const form = await readForm(request);
    const query = givenParameters(readParameters(requiredParameter(form, "request")));
    const replyTo = await findReplyTo(query);
    const { client } = replyTo;
    if (requiredParameter(form, "decision") !== "allow") {
      throw new AuthorizationError(replyTo, "access_denied", "the person did not allow it");
    }
    const session = await findSession(request);
    if (session === undefined) return askToSignIn(client, query);
    const authorization = readAuthorization(replyTo, query, knownPermissions);
    if (mustSignIn(authorization, session)) return askToSignIn(client, query);
    const path = requiredParameter(form, "member");
    const member = servedBy(client, session.members).find((each) => each.path === path);
    if (member === undefined) return notSignedIn(wayTo(client, query));
    await count(member, false);
    const code = await issueCode(database, { ...authorization, member });
    return redirect(formatReply(replyTo, issuer(), { code }));
  };

  return {
    [oauthPaths.authorize]: reporting(issuer, {
      methods: ["GET", "POST"],
      async answer(request) {
        // A browser sends no cookie with a POST of another site, so the request becomes a GET.
        if (request.method === "POST")
          return redirect(`${oauthPaths.authorize}?${formatForm(await readForm(request))}`);
        return ask(request, givenParameters(readQuery(request)));
      },
    }),

    [oauthPaths.decide]: reporting(issuer, { methods: ["POST"], answer: decide }),
  };
}

function notSignedIn(here: Destination): BrowserResponse {
  return { ...page(problemPage("you are no longer signed in as this member", here)), status: 400 };
}

function notServed(client: RegisteredClient, here: Destination): BrowserResponse {
  const message = `${client.display_name} serves the members of ${client.org_display_name}, and you are signed in as none of them`;
  return { ...page(problemPage(message, here)), status: 403 };
}

/** Returns an endpoint that shows errors on a page, or brings them to the client if it can be trusted with them. */
function reporting(issuer: () => string, endpoint: Endpoint): Endpoint {
  return {
    ...endpoint,
    fail(error) {
      if (!(error instanceof AuthorizationError)) return { ...page(problemPage(error.message)), status: error.status };
      return redirect(formatReply(error.replyTo, issuer(), { ...errorParameters(error) }));
    },
  };
}

function formatForm(form: ReadonlyMap<string, string>): string {
  return new URLSearchParams([...form]).toString();
}
