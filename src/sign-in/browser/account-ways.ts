// The part of the account page that shows everything that can act as the person, and ends it. It needs no script.
import type { WaysOfMember } from "../../iam/account/store.ts";
import type { SignedInMember } from "../../iam/sign-in/browser-sessions.ts";
import { formatScopes } from "../../identity/tokens/scopes.ts";
import { escape, frame, named, timeTag } from "./pages.ts";

/** Where the form goes. */
export const endPath = "/account/end";

/** Returns the sections of the members that a browser is signed in as, and the button that ends everything. */
export function accountWays(members: readonly SignedInMember[], ways: readonly WaysOfMember[]): string {
  const sections = members.map((member, index) => {
    const own = ways[index];
    return own === undefined ? "" : sectionOf(member, own, index);
  });
  return `${sections.join("\n")}
<section aria-labelledby="end-title"><h2 id="end-title">End everything</h2>
<p>If you do not know something of this, or have lost a device: the button ends all of it, also this sign-in. ${whatStays(members, ways)}</p>
<form method="post" action="${endPath}"><button class="danger">End everything that can act as me</button></form></section>`;
}

/** Says what a person can still sign in with after everything has ended. A sign-in by a one-time code has no identity that could stay. */
function whatStays(members: readonly SignedInMember[], ways: readonly WaysOfMember[]): string {
  const isWithCode = members.every(({ sessionId }, index) =>
    ways[index]?.sessions.some((row) => row.id === sessionId && row.identity_id === null),
  );
  return !isWithCode
    ? "Only the identity with which you are signed in here stays, so that you can sign in again."
    : `You are signed in here with a one-time code, so <strong>nothing stays to sign in with again</strong>: another link is made with
<code>tenantry sign-in-link</code>, and another key of the operator with <code>tenantry operator-key</code>.`;
}

function sectionOf({ path, displayName, orgDisplayName, sessionId }: SignedInMember, ways: WaysOfMember, at: number) {
  const { keys, sessions, identities, codes, areMore } = ways;
  const own = sessions.find(({ id }) => id === sessionId);
  const ofClients = sessions.filter((row) => row.oauth_client_id !== null);
  const others = sessions.filter((row) => row.oauth_client_id === null);
  const lists = [
    listOf(
      "Identities",
      identities.map((row) =>
        itemOf(row.provider_name ?? "", row.subject, [
          `since ${timeTag(row.create_time)}`,
          row.id === own?.identity_id ? "signed in with it here" : "",
          row.state === "PENDING" ? "signs in only when you accept it" : "",
        ]),
      ),
    ),
    listOf(
      "API keys",
      keys.map((row) =>
        itemOf(row.display_name, `${row.prefix}…`, [
          escape(narrowed(row.scopes)),
          `since ${timeTag(row.create_time)}`,
          row.expire_time === null ? "does not expire" : `until ${timeTag(row.expire_time)}`,
          row.last_use_time === null ? "never used" : `last used ${timeTag(row.last_use_time)}`,
        ]),
      ),
    ),
    listOf(
      "Clients that you allowed",
      ofClients.map((row) =>
        itemOf(row.client_display_name ?? row.client_id, narrowed(row.scopes), timesOf(row), "everything"),
      ),
    ),
    listOf(
      "Sessions",
      others.map((row) =>
        itemOf(row.client_id === "browser" ? "Browser" : row.client_id, row.user_agent, [
          ...timesOf(row),
          row.id === sessionId ? "this browser" : "",
        ]),
      ),
    ),
    listOf(
      "One-time codes",
      codes.map((row) => itemOf("Signs in once", "", [`until ${timeTag(row.expire_time)}`])),
    ),
  ];
  return `<section aria-labelledby="ways-${at}"><h2 id="ways-${at}">What can act as ${named(displayName)} in ${named(orgDisplayName)}</h2>
<p>${escape(path)}</p>${areMore ? moreNote : ""}
${lists.join("\n")}</section>`;
}

const moreNote = `
<p role="alert">There are more than these. The button below ends those, too.</p>`;

function timesOf(row: WaysOfMember["sessions"][number]): string[] {
  return [`since ${timeTag(row.create_time)}`, `until ${timeTag(row.expire_time)}`];
}

function narrowed(scopes: readonly string[] | null): string {
  return scopes === null ? "" : formatScopes(scopes);
}

function listOf(title: string, items: readonly string[]): string {
  return `<h3>${title}</h3>\n<ul>${items.length === 0 ? "<li>None</li>" : items.join("\n")}</ul>`;
}

/** @param notes HTML; empty ones are left out. */
function itemOf(name: string, details: string, notes: readonly string[], withoutDetails = ""): string {
  const about = details || withoutDetails;
  const text = [about === "" ? "" : named(about), ...notes].filter((each) => each !== "").join(", ");
  return `<li><span>${named(name)}</span><span>${text}</span></li>`;
}

export function endedPage(): string {
  return frame(
    "All ended",
    `<main class="narrow">
<h1>All ended</h1>
<p role="status">Everything that could act as you has ended, except the identity with which you were signed in here, if there was one. This browser
is signed out.</p>
<p><a href="/sign-in">Sign in</a></p>
</main>`,
  );
}

/** The page for members of whom something may still act. */
export function unfinishedPage(members: readonly SignedInMember[]): string {
  const names = members.map(
    ({ displayName, orgDisplayName }) => `<li>${named(displayName)} in ${named(orgDisplayName)}</li>`,
  );
  return frame(
    "Not all ended",
    `<main class="narrow">
<h1>Not all ended</h1>
<p role="alert">This failed, and everything else has ended:</p>
<ul>${names.join("")}</ul>
<form method="post" action="${endPath}"><button class="danger">Try again</button></form>
<p><a href="/account">Your account</a></p>
</main>`,
  );
}
