import type { Logger } from "pino";
import type { Origin } from "../../changes/author.ts";
import type { Account } from "../../iam/account/account.ts";
import type { BrowserSession, SignedInMember } from "../../iam/sign-in/browser-sessions.ts";
import type { SignInChoice } from "../../iam/sign-in/sign-in-choices.ts";
import type { HttpRequest } from "../../http/http-messages.ts";
import { OAuthError } from "../oauth/oauth-error.ts";
import { readForm } from "../oauth/read-form.ts";
import { accountWays, endPath, endedPage, unfinishedPage } from "./account-ways.ts";
import { type BrowserResponse, type Endpoint, page } from "./browser-responses.ts";
import { accountPage } from "./pages.ts";
import { requireSameOrigin } from "./require-same-origin.ts";

interface AccountEndpoints {
  readonly account: Account;
  readonly find: (request: HttpRequest) => Promise<BrowserSession | undefined>;
  readonly findChoices: (request: HttpRequest) => Promise<readonly SignInChoice[]>;
  /** Returns an endpoint with a page for browsers that are signed in. */
  readonly pageOf: (write: (session: BrowserSession, request: HttpRequest) => Promise<string>) => Endpoint;
  readonly signOut: (
    request: HttpRequest,
    answer: (headers: BrowserResponse["headers"]) => BrowserResponse,
  ) => Promise<BrowserResponse>;
  readonly originOf: (request: HttpRequest) => Origin;
  readonly logger: Logger;
  readonly fail: (error: OAuthError) => BrowserResponse;
}

/** Creates the page that shows everything that can act as the person, and the endpoint that ends it, in each org on its own. */
export function createAccountEndpoints(dependencies: AccountEndpoints): Readonly<Record<string, Endpoint>> {
  const { account, find, findChoices, pageOf, signOut, originOf, logger, fail } = dependencies;

  const endOf = async (request: HttpRequest, member: SignedInMember): Promise<"ended" | "left" | "failed"> => {
    try {
      return (await account.endWays(member, originOf(request))) ? "ended" : "left";
    } catch (error) {
      logger.error({ err: error }, "what can act as a member was not ended");
      return "failed";
    }
  };

  const endpoint: Endpoint = {
    methods: ["POST"],
    async answer(request) {
      requireSameOrigin(request);
      await readForm(request);
      const session = await find(request);
      if (session === undefined) throw new OAuthError("invalid_request", "you are no longer signed in");
      const failed: SignedInMember[] = [];
      const left: SignedInMember[] = [];
      for (const member of session.members) {
        const outcome = await endOf(request, member);
        if (outcome !== "ended") (outcome === "left" ? left : failed).push(member);
      }
      // What is left can be ended again with the same sign-in.
      if (failed.length > 0) return { ...page(unfinishedPage([...failed, ...left])), status: 503 };
      return signOut(request, (headers) => {
        if (left.length === 0) return page(endedPage(), headers);
        const refused = fail(new OAuthError("invalid_request", explainLeft(left)));
        return { ...refused, headers: { ...refused.headers, ...headers } };
      });
    },
    fail,
  };

  return {
    "/account": pageOf(async (session, request) => {
      const { members } = session;
      const ways = accountWays(members, await account.readWays(members));
      return accountPage(session, await findChoices(request), ways);
    }),
    [endPath]: endpoint,
  };
}

function explainLeft(left: readonly SignedInMember[]): string {
  const paths = left.map(({ path }) => path).join(", ");
  return `you are no longer signed in as ${paths}; sign in again to see whether anything can still act as you`;
}
