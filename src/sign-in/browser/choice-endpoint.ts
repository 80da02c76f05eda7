import type { Origin } from "../../changes/author.ts";
import type { SignInChoices } from "../../iam/sign-in/sign-in-choices.ts";
import type { HttpRequest } from "../../http/http-messages.ts";
import { OAuthError, toOAuthError } from "../oauth/oauth-error.ts";
import { type Form, readForm, requiredParameter } from "../oauth/read-form.ts";
import { readQuery } from "../oauth/read-parameters.ts";
import { type BrowserResponse, type Endpoint, page, redirect } from "./browser-responses.ts";
import { choicePage, choiceProblemPage } from "./choice-page.ts";
import { clearCookie, lastUsed, readCookie } from "./cookie.ts";
import { requireSameOrigin } from "./require-same-origin.ts";
import { type Destination, atHome, choicePath, readDestination, signInPath } from "./return-path.ts";

interface ChoiceEndpointDependencies {
  readonly signInChoices: SignInChoices;
  readonly isSignedIn: (request: HttpRequest) => Promise<boolean>;
  readonly originOf: (request: HttpRequest) => Origin;
}

/** Creates the endpoint where a person chooses as which member it is signed in: the page, and the decision that it sends. */
export function createChoiceEndpoint(dependencies: ChoiceEndpointDependencies): Endpoint {
  const { signInChoices, isSignedIn, originOf } = dependencies;

  const show = async (request: HttpRequest): Promise<BrowserResponse> => {
    const destination = readDestination(readQuery(request));
    const cookie = readCookie(request);
    const choices = cookie === undefined ? [] : await signInChoices.find(cookie);
    if (choices.length > 0) return page(choicePage(choices, destination));
    return redirect((await isSignedIn(request)) ? destination.returnPath : signInPath(destination));
  };

  const decide = async (request: HttpRequest): Promise<BrowserResponse> => {
    requireSameOrigin(request);
    const form = await readForm(request);
    const destination = readDestination(form);
    try {
      const location = await carryOut(request, form, destination);
      // The console then starts as the member that was chosen last.
      return redirect(location, { "Set-Cookie": clearCookie(lastUsed) });
    } catch (thrown) {
      const error = toOAuthError(thrown);
      // Its cause is logged where all errors end.
      if (error.error === "server_error") throw thrown;
      return { ...page(choiceProblemPage(error.message, destination), error.headers), status: error.status };
    }
  };

  /** Carries a decision out, and returns where the browser goes. */
  const carryOut = async (request: HttpRequest, form: Form, destination: Destination): Promise<string> => {
    const [identity, decision] = [requiredParameter(form, "identity"), requiredParameter(form, "decision")];
    const cookie = readCookie(request) ?? "";
    switch (decision) {
      case "decline":
        await signInChoices.decline(cookie, identity);
        return choicePath(destination);
      case "sign-in":
      case "accept":
        await signInChoices.choose(cookie, identity, decision === "accept", originOf(request));
        return destination.returnPath;
      default:
        throw new OAuthError("invalid_request", "the decision must be sign-in, accept or decline");
    }
  };

  return {
    methods: ["GET", "POST"],
    answer: (request) => (request.method === "POST" ? decide(request) : show(request)),
    fail: (error) => ({ ...page(choiceProblemPage(error.message, atHome)), status: error.status }),
  };
}
