// The pages for people who have signed in at a provider, and whom no member is linked with: what they can do.
import type { NewcomerRefusal } from "../../iam/sign-in/first-sign-ins.ts";
import type { SignedInPerson } from "../../iam/sign-in/provider-sign-in.ts";
import type { PersonAtProvider } from "../note-sign-ins.ts";
import { escape, frame, named, otherAccountLink } from "./pages.ts";
import type { Destination } from "./return-path.ts";

/** The page of a person whom no member is linked with, and for whom none was created. */
export function unlinkedPage(person: PersonAtProvider, destination: Destination): string {
  const { providerName, refusal } = person;
  if (refusal !== undefined) return refusedPage(person, refusal, destination);
  return frame(
    "Not linked",
    `<main class="narrow">
<h1>Not linked yet</h1>
<p role="alert">You are signed in with ${named(providerName)}, but no member of this service has this identity. Ask an owner of your
org to create an identity of your member, with the identity provider ${named(providerName)} and this subject:</p>
${whoIs(person)}
<p>${otherAccountLink(destination)}</p>
</main>`,
  );
}

/** What a person is told for whom no member is created, and what it can do. */
const refusals: Readonly<Record<NewcomerRefusal, string>> = {
  NOT_LET_IN: `It lets in some of those who have an account there, and you are not among them. If you should be, ask an owner of the org to
invite you, or who manages your account there for what is missing.`,
  ORG_HAS_DIRECTORY: `A directory says who is a member of the org, so nobody becomes one by signing in. Ask who manages that directory to add you.`,
  LINKED_ELSEWHERE: `Your account belongs to a member of the org already, by another way to sign in with the same issuer. Sign in there. If that is
refused, the member is not active: ask an owner of the org.`,
  RULE_FAILED: `What it says of you is not what the org expects, so nobody could find out whether you are to be let in. Tell an owner of the org.`,
  AUTHOR_LOST_ACCESS: `Nobody is let in at the moment: who has set that up may not do so any more. Ask an owner of the org to set it again.`,
  ADDRESS_TAKEN: `A member of the org has your address already. If you were invited, open the link of your invitation. Otherwise, ask an owner of
the org to create an identity of that member, with the subject below.`,
};

/** The page of a person at a provider that creates members, and not for this one. */
function refusedPage(person: SignedInPerson, refusal: NewcomerRefusal, destination: Destination): string {
  const { providerName, org = "" } = person;
  return frame(
    "Not a member",
    `<main class="narrow">
<h1>Not a member yet</h1>
<p role="alert">You are signed in with ${named(providerName)} of the org <code>${escape(org)}</code>. ${refusals[refusal]}</p>
${whoIs(person)}
<p>${otherAccountLink(destination)}</p>
</main>`,
  );
}

/** What an owner needs who links the person. */
function whoIs({ issuer, subject }: SignedInPerson): string {
  return `<dl><dt>Issuer</dt><dd><code>${escape(issuer)}</code></dd><dt>Subject</dt><dd><code>${escape(subject)}</code></dd></dl>`;
}
