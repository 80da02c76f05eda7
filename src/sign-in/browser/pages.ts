// The pages of the sign-in, and of what can act as a person. They work without scripts. The one that they have takes the code of a link.
import type { ListedProvider } from "../../iam/sign-in/provider-sign-in.ts";
import type { BrowserSession } from "../../iam/sign-in/browser-sessions.ts";
import type { SignInChoice } from "../../iam/sign-in/sign-in-choices.ts";
import { type Destination, atHome, choicePath, signInPath } from "./return-path.ts";

interface SignIn {
  /** Where the browser goes afterwards, and the org whose providers are offered, too. */
  readonly destination: Destination;
  readonly problem?: string;
  /** Those of the installation first; undefined if they are not known, after an error. */
  readonly providers?: readonly ListedProvider[];
}

/**
 * The page where a browser signs in, with the providers at which it can. Those of an org are apart, below its name: the org chooses what
 * they are called, and could call one as a provider of the installation is.
 */
export function signInPage({ destination, problem, providers: known }: SignIn): string {
  const providers = known ?? [];
  const buttonsOf = (some: readonly ListedProvider[]): string =>
    some.map((provider) => providerForm(provider, destination)).join("\n");
  const ofOrg = providers.filter((provider) => provider.org !== undefined);
  return frame(
    "Sign in",
    `<main class="narrow">
<h1>Sign in</h1>
${problem === undefined ? "" : `<p role="alert">Not signed in: ${escape(problem)}</p>`}
${buttonsOf(providers.filter((provider) => provider.org === undefined))}
${ofOrg[0]?.org === undefined ? "" : `<section aria-labelledby="org-title"><h2 id="org-title">For members of the org <code>${escape(ofOrg[0].org)}</code></h2>\n${buttonsOf(ofOrg)}</section>`}
<form method="post" action="/sign-in/code"${providers.length === 0 ? "" : ` class="apart"`}>
<label for="code">One-time code</label>
<input id="code" name="code" type="password" autocomplete="off" required>
${hiddenFields(destination)}
<button>Sign in</button>
</form>
${known === undefined ? `<p><a href="${escape(signInPath(destination))}">Other ways to sign in</a></p>` : ""}
${known?.length === 0 ? noProvider : ""}
<p>The operator signs in with a one-time code: a link with one is printed, or written to the data directory, when the service starts
for the first time. Another one is made with <code>tenantry sign-in-link</code>.</p>
</main>`,
  );
}

const noProvider = `<p>No identity provider is connected here. The address <code>/sign-in?org=</code> with the name of an org also offers
those of that org. An operator can <a href="/docs/sign-in">connect one</a>.</p>`;

function providerForm({ id, displayName }: ListedProvider, destination: Destination): string {
  return `<form method="post" action="/sign-in/start">
<input type="hidden" name="provider" value="${escape(id)}">
${hiddenFields(destination)}
<button>Continue with ${named(displayName)}</button>
</form>`;
}

/** The fields with which a form keeps where the sign-in leads. */
export function hiddenFields({ returnPath, org }: Destination): string {
  const ofOrg = org === undefined ? "" : `\n<input type="hidden" name="org" value="${escape(org)}">`;
  return `<input type="hidden" name="return_to" value="${escape(returnPath)}">${ofOrg}`;
}

/** The link to the page where a person signs in as somebody else, and then goes on. */
export function otherAccountLink(destination: Destination): string {
  return `<a href="${escape(signInPath(destination))}">Sign in with another account</a>`;
}

/**
 * The page of a browser that is signed in: as whom, and until when.
 *
 * @param ways HTML that shows what can act as the person.
 */
export function accountPage(
  { members, signInTime, expireTime }: BrowserSession,
  choices: readonly SignInChoice[],
  ways: string,
): string {
  const items = members.map(({ path, displayName, orgDisplayName }) => {
    const label = `${named(displayName)} in ${named(orgDisplayName)}`;
    return `<li><span>${label}</span><span>${escape(path)}</span><a href="/console${escape(path)}?tab=keys">Keys and sessions<span class="unseen"> of ${label}</span></a></li>`;
  });
  return frame(
    "Account",
    `<header><h1>Account</h1><form method="post" action="/sign-out"><button class="quiet">Sign out</button></form></header>
<main>
<p><a href="/console/">Console</a></p>
<p>Signed in ${timeTag(signInTime)}, until ${timeTag(expireTime)}.</p>
<section aria-labelledby="members-title"><h2 id="members-title">Signed in as</h2><ul>${items.join("")}</ul>
${choices.length === 0 ? "" : `<p>${otherMemberLink(atHome)}</p>`}</section>
${ways}
</main>`,
  );
}

/** The link to the page where a person chooses another member. */
export function otherMemberLink(destination: Destination): string {
  return `<a href="${escape(choicePath(destination))}">Sign in as another member</a>`;
}

/** The page for a browser that signed out while a session could not be ended. */
export function signedOutPage(): string {
  return frame(
    "Signed out",
    `<main class="narrow">
<h1>Signed out</h1>
<p role="alert">This browser is signed out. In one org, its session could not be ended at once: tokens that pages got before go on for
ten minutes at most.</p>
<p><a href="/sign-in">Sign in</a></p>
</main>`,
  );
}

/** The page for a path that has none. */
export function missingPage(path: string): string {
  return frame(
    "No such page",
    `<main class="narrow">
<h1>No such page</h1>
<p role="alert">There is no page at <code>${escape(path)}</code>.</p>
<ul><li><a href="/docs">Documentation</a></li><li><a href="/console/">Console</a></li><li><a href="/account">Your account</a></li></ul>
</main>`,
  );
}

/** The page at the address of the console of a service that has none. */
export function unbuiltPage(): string {
  return frame(
    "No console",
    `<main class="narrow">
<h1>No console</h1>
<p role="alert">This service runs without its console, which was not built. The API answers all the same.</p>
<p>In the folder of the sources, <code>npm ci</code> builds it, and so does <code>node scripts/build.ts</code> after that; the package
has it built. Then start the service again.</p>
<ul><li><a href="/account">Your account</a></li><li><a href="/docs">Documentation</a></li></ul>
</main>`,
  );
}

export function frame(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Tenantry</title>
<link rel="stylesheet" href="/sign-in/account.css">
<script type="module" src="/sign-in/take-code.js"></script>
</head>
<body>
${content}
</body>
</html>
`;
}

export function timeTag(time: Date): string {
  const text = time.toISOString();
  return `<time datetime="${text}">${text.slice(0, 16).replace("T", " ")} UTC</time>`;
}

/** Returns a name that others chose as HTML that does not reorder what is around it. */
export function named(text: string): string {
  return `<bdi>${escape(text)}</bdi>`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** The characters that set the direction of the text after them (UAX #9, 2), such as U+202E. Names need none of them. */
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Returns a text as HTML, in which no character changes the direction of others. */
export function escape(text: string): string {
  return text.replace(directions, "\ufffd").replace(/[&<>"']/g, (character) => entities[character] ?? "");
}
