// The endpoints that confirm contacts. A link has its secret in the fragment, so that no request for the page has it, and no log. Opening the
// link changes nothing, and neither does the form that it fills in: a program that checks mails may do both. A second form confirms, with a
// box that a person ticks.
import { type ContactConfirmations, linkNotOpenText } from "../../iam/contacts/confirmations.ts";
import { OAuthError } from "../oauth/oauth-error.ts";
import { readForm, requiredParameter } from "../oauth/read-form.ts";
import type { HttpRequest } from "../../http/http-messages.ts";
import { type BrowserResponse, type Endpoint, page } from "./browser-responses.ts";
import { confirmPath, confirmedPage, contactPage, contactPagePath, openContactPage } from "./contact-page.ts";
import { requireSameOrigin } from "./require-same-origin.ts";

export function createContactEndpoints(confirmations: ContactConfirmations): Readonly<Record<string, Endpoint>> {
  const show = async (request: HttpRequest): Promise<BrowserResponse> => {
    requireSameOrigin(request);
    const code = requiredParameter(await readForm(request), "code").trim();
    const link = await confirmations.find(code);
    if (link === undefined) return { ...page(openContactPage(linkNotOpenText)), status: 400 };
    return page(contactPage(code, link));
  };

  return {
    [contactPagePath]: {
      methods: ["GET", "POST"],
      answer: (request) => (request.method === "POST" ? show(request) : Promise.resolve(page(openContactPage()))),
      fail,
    },

    [confirmPath]: {
      methods: ["POST"],
      async answer(request) {
        requireSameOrigin(request);
        const form = await readForm(request);
        const [code, agreed] = [requiredParameter(form, "code"), requiredParameter(form, "agreed")];
        if (agreed !== "yes") throw new OAuthError("invalid_request", "the parameter agreed must be yes");
        return page(confirmedPage(await confirmations.confirm(code)));
      },
      fail,
    },
  };
}

function fail(error: OAuthError): BrowserResponse {
  return { ...page(openContactPage(error.message), error.headers), status: error.status };
}
