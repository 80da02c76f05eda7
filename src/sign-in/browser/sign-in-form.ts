import type { ProviderSignIn } from "../../iam/sign-in/provider-sign-in.ts";
import type { HttpRequest } from "../../http/http-messages.ts";
import { OAuthError, toOAuthError } from "../oauth/oauth-error.ts";
import { type Form, readForm } from "../oauth/read-form.ts";
import { type BrowserResponse, type Endpoint, page } from "./browser-responses.ts";
import { signInPage } from "./pages.ts";
import { requireSameOrigin } from "./require-same-origin.ts";
import { type Destination, atHome, readDestination } from "./return-path.ts";

type Providers = Pick<ProviderSignIn, "list">;

/** Creates an endpoint for a form of the sign-in page. */
export function createSignInForm(
  providers: Providers,
  signIn: (form: Form, destination: Destination, request: HttpRequest) => Promise<BrowserResponse>,
): Endpoint {
  return {
    methods: ["POST"],
    async answer(request) {
      requireSameOrigin(request);
      const form = await readForm(request);
      const destination = readDestination(form);
      return sayOnPage(providers, destination, () => signIn(form, destination, request));
    },
    fail: failOnPage,
  };
}

/**
 * Says on the sign-in page why somebody is not signed in. The page still has the identity providers and where the browser goes afterwards, so
 * that a mistyped code, or a sign-in that was cancelled, does not lose the client that sent the person.
 */
export async function sayOnPage(
  providers: Providers,
  destination: Destination,
  signIn: () => Promise<BrowserResponse>,
): Promise<BrowserResponse> {
  try {
    return await signIn();
  } catch (thrown) {
    const error = toOAuthError(thrown);
    // Its cause is logged where all errors end.
    if (error.error === "server_error") throw thrown;
    const listed = await providers.list(destination.org);
    const body = signInPage({ destination, problem: error.message, providers: listed });
    return { ...page(body, error.headers), status: error.status };
  }
}

/**
 * Runs what follows once what a person came with is used up: to send the same again, as an error would suggest that will pass, gets nobody in.
 *
 * @param remedy what to do instead.
 */
export async function afterUse<Result>(remedy: string, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (thrown) {
    const { error, message, headers } = toOAuthError(thrown);
    if (error !== "temporarily_unavailable") throw thrown;
    throw new OAuthError(error, `${message.replace(/; try again$/, "")}; ${remedy}`, headers);
  }
}

/** The sign-in page for an error after which it is not known where the person came from. */
export function failOnPage(error: OAuthError): BrowserResponse {
  return { ...page(signInPage({ destination: atHome, problem: error.message })), status: error.status };
}
