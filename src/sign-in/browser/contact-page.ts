// The pages on which somebody who reads the mail of a contact confirms its address. They need no script: the one of the account fills in the
// code of a link, and it can be typed otherwise.
import { describeKinds } from "../../iam/contacts/confirmation-mail.ts";
import type { OpenLink } from "../../iam/contacts/link-store.ts";
import { escape, frame, named } from "./pages.ts";

export const contactPagePath = "/sign-in/contact";

/** Where the decision is sent. */
export const confirmPath = "/sign-in/contact/confirmation";

/** The page that a link opens. */
export function openContactPage(problem?: string): string {
  return frame(
    "Confirm a contact",
    `<main class="narrow">
<h1>Confirm a contact</h1>
${problem === undefined ? "" : `<p role="alert">${escape(problem)}.</p>`}
<form method="post" action="${contactPagePath}">
<label for="code">Code of the link</label>
<input id="code" name="code" type="password" autocomplete="off" required>
<button>Show the contact</button>
</form>
<p>The link in the mail fills the code in. It shows who asks; nothing is confirmed with it.</p>
</main>`,
  );
}

const called = {
  org: { title: "Org", collection: "orgs" },
  customer: { title: "Customer", collection: "customers" },
} as const;

/** The page that shows who asks. The box must be ticked: programs that check mails send forms, and leave such boxes as they are. */
export function contactPage(code: string, { parent, email, kinds }: OpenLink): string {
  return frame(
    "Confirm a contact",
    `<main class="narrow">
<h1>Confirm the contact of ${named(parent.displayName)}</h1>
<dl><dt>${called[parent.kind].title}</dt><dd>${named(parent.displayName)}, <code>${escape(`/${called[parent.kind].collection}/${parent.name}`)}</code></dd>
<dt>The address</dt><dd><code>${escape(email)}</code></dd>
<dt>It gets warnings about</dt><dd>${escape(describeKinds(kinds))}</dd></dl>
<form method="post" action="${confirmPath}">
<input type="hidden" name="code" value="${escape(code)}">
<div class="option"><input id="agreed" name="agreed" type="checkbox" value="yes" required>
<label for="agreed">This is my address, and I want these warnings</label></div>
<button>Confirm</button>
</form>
<p>If it is not, close this page. Then nothing is sent to the address.</p>
</main>`,
  );
}

export function confirmedPage({ parent, email }: OpenLink): string {
  return frame(
    "Confirmed",
    `<main class="narrow">
<h1>Confirmed</h1>
<p role="status"><code>${escape(email)}</code> is a confirmed contact of ${named(parent.displayName)} and gets its warnings.</p>
<p>An owner of the ${parent.kind} can change that; each warning names the ${parent.kind}.</p>
</main>`,
  );
}
