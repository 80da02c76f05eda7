// The pages on which people allow clients to act for them. They need no script.
import type { SignedInMember } from "../../iam/sign-in/browser-sessions.ts";
import { escape, frame, otherMemberLink } from "../browser/pages.ts";
import type { Authorization } from "./read-authorization.ts";

/**
 * The page that asks for consent.
 *
 * @param members for which the client may act; at least one.
 * @param query the request, as in a URL.
 * @param returnPath of this page, if the person can also choose another member.
 */
export function consentPage(
  { client, scopes, isOffline, redirectUri }: Authorization,
  members: readonly SignedInMember[],
  query: string,
  returnPath?: string,
): string {
  const allowed = scopes?.map(describeScope) ?? ["Everything that you may do"];
  if (isOffline) allowed.push("Go on when you are away, until you end it on your account page");
  const name = escape(client.display_name);
  return frame(
    `Allow ${name}?`,
    `<main class="narrow">
<h1>Allow ${name}?</h1>
<p><strong>${name}</strong>, a client of ${escape(client.org_display_name)}, wants to act for you.</p>
<form method="post" action="/oauth2/authorize/decision">
<fieldset><legend>As whom</legend>
${memberOptions(members)}
${returnPath === undefined ? "" : `<p>${otherMemberLink(returnPath)}</p>`}
</fieldset>
<h2>What it may do</h2>
<ul class="plain">${allowed.map((each) => `<li>${escape(each)}</li>`).join("")}</ul>
<p>You will go back to <code>${escape(placeOf(redirectUri))}</code>.</p>
<input type="hidden" name="request" value="${escape(query)}">
<div class="choice">
<button name="decision" value="allow">Allow</button>
<button class="quiet" name="decision" value="deny" formnovalidate>Deny</button>
</div>
</form>
</main>`,
  );
}

/** The page that says why a client gets no answer. */
export function problemPage(problem: string): string {
  return frame(
    "Not possible",
    `<main class="narrow">
<h1>Not possible</h1>
<p role="alert">${escape(problem)}</p>
<p><a href="/account">Your account</a></p>
</main>`,
  );
}

/** Of several members, none is preselected: an org could otherwise arrange to be the first, and so to be chosen without a thought. */
function memberOptions(members: readonly SignedInMember[]): string {
  const isChoice = members.length > 1;
  const options = members.map(({ path, displayName, orgDisplayName }, index) => {
    const label = `${escape(displayName)} in ${escape(orgDisplayName)} <span>${escape(path)}</span>`;
    const [id, value] = [`member-${index}`, escape(path)];
    if (!isChoice) return `<input type="hidden" name="member" value="${value}"><p>${label}</p>`;
    return `<div class="option"><input type="radio" id="${id}" name="member" value="${value}" required>
<label for="${id}">${label}</label></div>`;
  });
  return options.join("\n");
}

/** Returns the host of an address, or all of it if it has none. */
function placeOf(redirectUri: string): string {
  return new URL(redirectUri).host || redirectUri;
}

/** Returns what a scope allows, in words: `Get role bindings (iam)` for `iam.roleBindings.get`. */
function describeScope(scope: string): string {
  const [area = "", collection = "*", verb = "*"] = scope.split(".");
  if (collection === "*") return `Everything that you may do in the area ${area}`;
  const [what, how] = [wordsOf(collection), wordsOf(verb)];
  return verb === "*" ? `Everything that you may do with ${what} (${area})` : `${capitalized(how)} ${what} (${area})`;
}

/** `roleBindings` → `role bindings` */
function wordsOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

const capitalized = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
