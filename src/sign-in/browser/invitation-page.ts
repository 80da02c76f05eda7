// The page on which an invited person signs in, and accepts or declines. It needs no script: a link with a code fills the code in, and it can be
// typed otherwise.
import type { ListedProvider } from "../../iam/sign-in/provider-sign-in.ts";
import type { OpenInvitation } from "../../iam/sign-in/open-invitations.ts";
import type { InvitedPerson, Unfit } from "../../iam/sign-in/invitations.ts";
import { escape, frame, hiddenFields, named, timeTag } from "./pages.ts";
import type { Destination } from "./return-path.ts";

/** Where the decision is sent. */
export const decisionPath = "/sign-in/invitation/decision";

/**
 * The page of a browser that has opened no invitation, or one that cannot be used.
 *
 * @param isLeft whether the browser still had that one, and may have been led here by the link of another.
 */
export function openInvitationPage(problem?: string, isLeft = false): string {
  return frame(
    "Invitation",
    `<main class="narrow">
<h1>Invitation</h1>
${problem === undefined ? "" : `<p role="alert">${escape(problem)}. Ask who invited you for another link.</p>`}
${codeForm(isLeft)}
<p>The link of the invitation fills the code in. It shows who invites you; nothing is accepted with it.</p>
</main>`,
  );
}

/** @param isSent whether the script also sends a code that it has filled in: then a link leads to its own invitation from that of another. */
function codeForm(isSent: boolean): string {
  return `<form method="post" action="/sign-in/invitation"${isSent ? " data-send" : ""}>
<label for="code">Code of the invitation</label>
<input id="code" name="code" type="password" autocomplete="off" required>
<button${isSent ? ' class="quiet"' : ""}>Show the invitation</button>
</form>`;
}

interface Shown {
  readonly invitation: OpenInvitation;
  readonly destination: Destination;
  readonly providers: readonly ListedProvider[];
  /** Who has signed in for the invitation, and why that person cannot accept it, if so. */
  readonly person?: InvitedPerson | undefined;
  readonly unfit?: Unfit | undefined;
  /** The display names of the groups that a person who can accept joins. */
  readonly groups: readonly string[];
  readonly problem?: string;
}

export function invitationPage(shown: Shown): string {
  const { invitation, destination, providers, person, unfit, groups, problem } = shown;
  const { org_display_name: org, member_display_name: member, email, invitation_expire_time: end } = invitation;
  const [orgPath, memberPath] = [
    `/orgs/${invitation.org_name}`,
    `/orgs/${invitation.org_name}/members/${invitation.member_name}`,
  ];
  const waysOf = (again: boolean): string => waysToSignIn(providers, destination, invitation.org_name, again);
  return frame(
    "Invitation",
    `<main class="narrow">
<h1>You are invited to ${named(org)}</h1>
${problem === undefined ? "" : `<p role="alert">${escape(problem)}</p>`}
<dl><dt>Org</dt><dd>${named(org)}, <code>${escape(orgPath)}</code></dd>
<dt>You would be</dt><dd>${named(member)}, <code>${escape(memberPath)}</code></dd>
<dt>For the address</dt><dd><code>${escape(email)}</code></dd>
<dt>Until</dt><dd>${timeTag(end)}</dd></dl>
${person === undefined ? `<p>Sign in with an account of this address. Nothing is accepted before you say so.</p>\n${waysOf(false)}` : decisionOf(person, invitation, unfit, groups, waysOf)}
<section aria-labelledby="another-title"><h2 id="another-title">Another invitation?</h2>
${codeForm(true)}</section>
</main>`,
  );
}

function decisionOf(
  person: InvitedPerson,
  { id, email }: OpenInvitation,
  unfit: Unfit | undefined,
  groups: readonly string[],
  waysOf: (again: boolean) => string,
): string {
  const who = describePerson(person);
  const others = `<section aria-labelledby="others-title"><h2 id="others-title">${unfit === undefined ? "Not you?" : "Sign in with another account"}</h2>
${waysOf(true)}</section>`;
  if (unfit !== undefined) return `<p role="alert">${explain(unfit, who, email, person)}</p>\n${others}`;
  return `<p role="status">You are signed in as ${who}.</p>
${groupsOf(groups)}<form method="post" action="${decisionPath}">
<input type="hidden" name="invitation" value="${escape(id)}">
<div class="choice"><button name="decision" value="accept">Accept</button>
<button class="quiet" name="decision" value="decline">Decline</button></div>
</form>
<p>When you accept, you sign in with this account as the member, and owners of the org see when you do, and with which browser.</p>
${others}`;
}

function groupsOf(groups: readonly string[]): string {
  if (groups.length === 0) return "";
  return `<p>When you accept, you join ${groups.length === 1 ? "the group" : "the groups"} ${groups.map(named).join(", ")}, unless who invited you may not add
members any more: ask then who manages the org.</p>
`;
}

/** Names the person as the provider does. */
function describePerson({ claims, subject, providerName }: InvitedPerson): string {
  const known = [claims?.name, claims?.email]
    .filter((each) => each !== undefined && each !== "")
    .map((each) => named(each ?? ""));
  const who = known.length === 0 ? `<code>${escape(subject)}</code>` : known.join(", ");
  return `${who} at ${named(providerName)}`;
}

function explain(unfit: Unfit, who: string, email: string, { providerName }: InvitedPerson): string {
  const forAddress = `The invitation is for <code>${escape(email)}</code>`;
  switch (unfit) {
    case "other address":
      return `${forAddress}, and you are signed in as ${who}. Sign in with the account of that address, or ask who invited you for an
invitation to yours. The invitation stays as it is.`;
    case "not verified":
      return `You are signed in as ${who}, and ${named(providerName)} does not say that this address is verified. Verify it there and sign in again, or ask
who invited you: an owner of the org can trust the addresses of its identity provider.`;
    case "no address":
      return `${forAddress}, and ${named(providerName)} does not tell the address of ${who}. Use another account, or ask who invited you.`;
    case "other provider":
      return `You are signed in as ${who}, and this identity provider is not one with which people accept invitations to this org.`;
  }
}

function waysToSignIn(
  providers: readonly ListedProvider[],
  destination: Destination,
  orgName: string,
  again: boolean,
): string {
  if (providers.length === 0) {
    return `<p role="alert">No identity provider is connected for the org <code>${escape(orgName)}</code>, so nobody can accept yet. Tell who invited you.</p>`;
  }
  return providers
    .map(
      ({ id, displayName, org }) => `<form method="post" action="/sign-in/start">
<input type="hidden" name="provider" value="${escape(id)}">
${again ? '<input type="hidden" name="again" value="1">\n' : ""}${hiddenFields(destination)}
<button${again ? ' class="quiet"' : ""}>Continue with ${named(displayName)}${org === undefined ? "" : ` of ${escape(org)}`}</button>
</form>`,
    )
    .join("\n");
}

export function declinedPage(): string {
  return frame(
    "Declined",
    `<main class="narrow">
<h1>Declined</h1>
<p role="status">The invitation is declined. The org sees that, and nothing else of you.</p>
</main>`,
  );
}
