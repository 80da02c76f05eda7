// The pages on which people allow clients to act for them. They need no script.
import type { SignedInMember } from "../../iam/sign-in/browser-sessions.ts";
import { escape, frame, named, otherAccountLink, otherMemberLink } from "../browser/pages.ts";
import type { Destination } from "../browser/return-path.ts";
import type { Authorization } from "./read-authorization.ts";

/**
 * The page that asks for consent.
 *
 * @param members for which the client may act; at least one.
 * @param query the request, as in a URL.
 * @param here this page, if the person can also choose another member.
 */
export function consentPage(
  { client, scopes, isOffline, redirectUri }: Authorization,
  members: readonly SignedInMember[],
  query: string,
  here?: Destination,
): string {
  const allowed = scopes?.map(describeScope) ?? ["Everything that you may do"];
  if (isOffline) allowed.push("Go on when you are away, until you end it on your account page");
  const name = named(client.display_name);
  return frame(
    `Allow ${escape(client.display_name)}?`,
    `<main class="narrow">
<h1>Allow ${name}?</h1>
<p><strong>${name}</strong>, a client of ${named(client.org_display_name)}, wants to act for you.</p>
<form method="post" action="/oauth2/authorize/decision">
<fieldset><legend>As whom</legend>
${memberOptions(members)}
${here === undefined ? "" : `<p>${otherMemberLink(here)}</p>`}
</fieldset>
<h2>What it may do</h2>
<ul class="plain">${allowed.map((each) => `<li>${escape(each)}</li>`).join("")}</ul>
<p>You will go back to ${placeOf(redirectUri)}.</p>
<input type="hidden" name="request" value="${escape(query)}">
<div class="choice">
<button name="decision" value="allow">Allow</button>
<button class="quiet" name="decision" value="deny" formnovalidate>Deny</button>
</div>
</form>
</main>`,
  );
}

/**
 * The page that says why a client gets no answer.
 *
 * @param here the request, if another person can go on with it.
 */
export function problemPage(problem: string, here?: Destination): string {
  return frame(
    "Not possible",
    `<main class="narrow">
<h1>Not possible</h1>
<p role="alert">${named(problem)}</p>
${here === undefined ? "" : `<p>${otherAccountLink(here)}</p>`}
<p><a href="/account">Your account</a></p>
</main>`,
  );
}

/** Of several members, none is preselected: an org could otherwise arrange to be the first, and so to be chosen without a thought. */
function memberOptions(members: readonly SignedInMember[]): string {
  const isChoice = members.length > 1;
  const options = members.map(({ path, displayName, orgDisplayName }, index) => {
    const label = `${named(displayName)} in ${named(orgDisplayName)} <span>${escape(path)}</span>`;
    const [id, value] = [`member-${index}`, escape(path)];
    if (!isChoice) return `<input type="hidden" name="member" value="${value}"><p>${label}</p>`;
    return `<div class="option"><input type="radio" id="${id}" name="member" value="${value}" required>
<label for="${id}">${label}</label></div>`;
  });
  return options.join("\n");
}

/**
 * Returns where a redirect URI leads, as HTML: a host, a program on this computer, or an app. Of the URI of an app only its scheme counts,
 * whatever host is written behind it.
 */
function placeOf(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri);
  if (protocol === "https:") return `<code>${escape(host)}</code>`;
  if (protocol === "http:") return `a program on this computer, at <code>${escape(host)}</code>`;
  return `the app on this device that opens <code>${escape(protocol)}</code>`;
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
