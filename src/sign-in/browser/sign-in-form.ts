import type { ProviderSignIn } from "../../iam/sign-in/provider-sign-in.ts";
import type { HttpRequest } from "../../http/http-messages.ts";
import { type OAuthError, toOAuthError } from "../oauth/oauth-error.ts";
import { type Form, readForm } from "../oauth/read-form.ts";
import { type BrowserResponse, type Endpoint, page } from "./browser-responses.ts";
import { signInPage } from "./pages.ts";
import { requireSameOrigin } from "./require-same-origin.ts";
import { home, requireReturnPath } from "./return-path.ts";

/**
 * Creates an endpoint for a form of the sign-in page. It shows refusals on that page, with the identity providers and the address to
 * return to, so that a person who mistypes a code still gets back to the client that sent it.
 */
export function createSignInForm(
  providers: Pick<ProviderSignIn, "list">,
  signIn: (form: Form, returnPath: string, request: HttpRequest) => Promise<BrowserResponse>,
): Endpoint {
  return {
    methods: ["POST"],
    async answer(request) {
      requireSameOrigin(request);
      const form = await readForm(request);
      const returnPath = requireReturnPath(form.get("return_to"));
      try {
        return await signIn(form, returnPath, request);
      } catch (thrown) {
        const error = toOAuthError(thrown);
        // The caller of the endpoint logs the cause.
        if (error.error === "server_error") throw thrown;
        const org = form.get("org");
        const body = signInPage({ returnPath, org, problem: error.message, providers: await providers.list(org) });
        return { ...page(body, error.headers), status: error.status };
      }
    },
    fail: failOnPage,
  };
}

/** The sign-in page for an error after which it is not known where the person came from. */
export function failOnPage(error: OAuthError): BrowserResponse {
  return { ...page(signInPage({ returnPath: home, problem: error.message })), status: error.status };
}
