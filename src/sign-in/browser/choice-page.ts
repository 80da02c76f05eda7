// The page on which a person who signed in at a provider chooses as which member, and accepts or declines links with members. It
// needs no script.
import type { SignInChoice } from "../../iam/sign-in/sign-in-choices.ts";
import { escape, frame, hiddenFields, named, otherAccountLink } from "./pages.ts";
import { type Destination, choicePath } from "./return-path.ts";

/** @param choices at least one. */
export function choicePage(choices: readonly SignInChoice[], destination: Destination): string {
  const [accepted, waiting, declined] = (["ACCEPTED", "WAITING", "DECLINED"] as const).map((state) =>
    choices.filter((choice) => choice.state === state),
  ) as [SignInChoice[], SignInChoice[], SignInChoice[]];
  const items = (some: readonly SignInChoice[]): string =>
    `<ul>${some.map((choice) => choiceItem(choice, destination)).join("")}</ul>`;
  const parts = [
    accepted.length > 0 &&
      `<section aria-labelledby="members-title"><h2 id="members-title">Your members</h2>${items(accepted)}</section>`,
    waiting.length > 0 &&
      `<section aria-labelledby="waiting-title"><h2 id="waiting-title">Waiting for you</h2>
<p>Somebody linked your account with ${waiting.length === 1 ? "this member" : "these members"}. Accept if you know the org. You can then
sign in as the member, and owners of the org see when you do, and with which browser. Until then, and if you decline, they
learn nothing of you.</p>
${items(waiting)}</section>`,
    accepted.length + waiting.length === 0 &&
      `<p role="status">There is no other member to choose. What you have declined can still be accepted.</p>`,
    declined.length > 0 && `<details><summary>Declined</summary>${items(declined)}</details>`,
  ];
  return frame(
    "Continue as",
    `<main>
<h1>Continue as</h1>
${parts.filter((part) => part !== false).join("\n")}
<p>${otherAccountLink(destination)}</p>
<form method="post" action="/sign-out"><button class="quiet">Sign out</button></form>
</main>`,
  );
}

/** The page for a choice that failed. Others can still be made. */
export function choiceProblemPage(problem: string, destination: Destination): string {
  return frame(
    "Not signed in",
    `<main class="narrow">
<h1>Not signed in</h1>
<p role="alert">${escape(problem)}</p>
<p><a href="${escape(choicePath(destination))}">Choose again</a></p>
<p>${otherAccountLink(destination)}</p>
</main>`,
  );
}

function choiceItem(
  { id, path, displayName, orgDisplayName, providerName, state, creator }: SignInChoice,
  destination: Destination,
): string {
  const label = `${named(displayName)} in ${named(orgDisplayName)}`;
  const by = creator === undefined ? "" : ` by ${named(creator.displayName)}, ${escape(creator.path)}`;
  const origin = state === "ACCEPTED" ? "" : `<br>Linked with your account at ${named(providerName)}${by}`;
  const unseen = `<span class="unseen"> ${label}</span>`;
  const signIn = `<button name="decision" value="sign-in">Sign in<span class="unseen"> as ${label}</span></button>`;
  const accept = `<button name="decision" value="accept">Accept${unseen}</button>`;
  const decline = `<button class="quiet" name="decision" value="decline">Decline${unseen}</button>`;
  const buttons = { ACCEPTED: signIn, WAITING: `${accept}${decline}`, DECLINED: accept }[state];
  return `<li${state === "ACCEPTED" ? "" : ` class="stacked"`}><span>${label}</span><span>${escape(path)}${origin}</span>
<form method="post" action="/sign-in/choice">
<input type="hidden" name="identity" value="${escape(id)}">
${hiddenFields(destination)}
<div class="choice">${buttons}</div>
</form></li>`;
}
