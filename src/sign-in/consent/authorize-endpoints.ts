// The authorization endpoint (RFC 6749, 3.1): a client sends a browser here, a person allows the client to act for them, and the browser
// brings the client a code. Like those in `sign-in/browser`, these endpoints read the cookie of the sign-in.
import type { Database } from "../../database/database.ts";
import { issueCode } from "../../iam/authorization-codes/issue-code.ts";
import { type RegisteredClient, findRegisteredClient } from "../../iam/clients/registered-client.ts";
import type { BrowserSession } from "../../iam/sign-in/browser-sessions.ts";
import type { SignInChoice } from "../../iam/sign-in/sign-in-choices.ts";
import type { HttpRequest } from "../../http/http-messages.ts";
import { type OAuthDependencies, oauthPaths } from "../oauth/oauth-endpoints.ts";
import { OAuthError } from "../oauth/oauth-error.ts";
import { readForm, requiredParameter } from "../oauth/read-form.ts";
import { readParameters, readQuery } from "../oauth/read-parameters.ts";
import { type BrowserResponse, type Endpoint, page, redirect } from "../browser/browser-responses.ts";
import { requireSameOrigin } from "../browser/require-same-origin.ts";
import { choicePath, signInPath } from "../browser/return-path.ts";
import { consentPage, problemPage } from "./pages.ts";
import { type Authorization, AuthorizationError, formatReply, readAuthorization } from "./read-authorization.ts";

interface AuthorizeDependencies {
  readonly database: Database;
  readonly issuer: () => string;
  /** The org whose clients serve the members of all orgs. */
  readonly systemOrgId: string;
  readonly findSession: (request: HttpRequest) => Promise<BrowserSession | undefined>;
  /** Returns the members as whom the browser can be signed in, and is not yet. */
  readonly findChoices: (request: HttpRequest) => Promise<readonly SignInChoice[]>;
  readonly count: OAuthDependencies["count"];
}

export function createAuthorizeEndpoints(dependencies: AuthorizeDependencies): Readonly<Record<string, Endpoint>> {
  const { database, issuer, systemOrgId, findSession, findChoices, count } = dependencies;

  const read = (query: URLSearchParams): Promise<Authorization> =>
    readAuthorization((id) => findRegisteredClient(database.reads, id), query);

  const servedBy = <Member extends { readonly orgId: string }>(
    client: RegisteredClient,
    members: readonly Member[],
  ): readonly Member[] => members.filter(({ orgId }) => client.org_id === systemOrgId || client.org_id === orgId);

  const ask = async (request: HttpRequest, query: URLSearchParams): Promise<BrowserResponse> => {
    const authorization = await read(query);
    const { client, prompts } = authorization;
    const session = prompts.includes("login") ? undefined : await findSession(request);
    if (prompts.includes("none")) {
      const error = session === undefined ? "login_required" : "consent_required";
      throw new AuthorizationError(authorization, error, "the person must see a page of the service");
    }
    const returnPath = pathFor(query);
    const choices = prompts.includes("login") ? [] : servedBy(client, await findChoices(request));
    const members = servedBy(client, session?.members ?? []);
    if (members.length > 0) {
      const other = choices.length > 0 ? returnPath : undefined;
      return page(consentPage(authorization, members, query.toString(), other));
    }
    if (choices.length > 0) return redirect(choicePath(returnPath));
    if (session === undefined) return redirect(signInPath(returnPath));
    const message = `${client.display_name} serves the members of ${client.org_display_name}, and you are signed in as none of them`;
    return { ...page(problemPage(message)), status: 403 };
  };

  return {
    [oauthPaths.authorize]: reporting(issuer, {
      methods: ["GET", "POST"],
      async answer(request) {
        // A browser sends no cookie with a POST of another site, so the request becomes a GET.
        if (request.method === "POST")
          return redirect(`${oauthPaths.authorize}?${formatForm(await readForm(request))}`);
        return ask(request, readQuery(request));
      },
    }),

    [oauthPaths.decide]: reporting(issuer, {
      methods: ["POST"],
      async answer(request) {
        requireSameOrigin(request);
        const form = await readForm(request);
        const authorization = await read(readParameters(requiredParameter(form, "request")));
        const { client, redirectUri, codeChallenge, scopes, isOffline } = authorization;
        if (requiredParameter(form, "decision") !== "allow") {
          throw new AuthorizationError(authorization, "access_denied", "the person did not allow it");
        }
        const session = await findSession(request);
        const path = requiredParameter(form, "member");
        const member = session && servedBy(client, session.members).find((each) => each.path === path);
        if (member === undefined) throw new OAuthError("invalid_request", "you are no longer signed in as this member");
        await count(member, false);
        const code = await issueCode(database, { client, member, redirectUri, codeChallenge, scopes, isOffline });
        return redirect(formatReply(authorization, issuer(), { code }));
      },
    }),
  };
}

/** Returns an endpoint that shows errors on a page, or brings them to the client if it can be trusted with them. */
function reporting(issuer: () => string, endpoint: Endpoint): Endpoint {
  return {
    ...endpoint,
    fail(error) {
      if (!(error instanceof AuthorizationError)) return { ...page(problemPage(error.message)), status: error.status };
      const parameters = { error: error.error, error_description: error.message };
      return redirect(formatReply(error.replyTo, issuer(), parameters));
    },
  };
}

/** Returns the way back to a request after the sign-in, which `prompt=login` asks for once. */
function pathFor(query: URLSearchParams): string {
  const next = new URLSearchParams(query);
  next.delete("prompt");
  return `${oauthPaths.authorize}?${next.toString()}`;
}

function formatForm(form: ReadonlyMap<string, string>): string {
  return new URLSearchParams([...form]).toString();
}
