// The link with which the operator signs in without a provider.
import { join } from "node:path";
import type { MemberKey } from "../iam/sign-in/sign-in-links.ts";
import type { Installation } from "../identity/installation.ts";
import { writeSecretFile } from "./secret-file.ts";

export function signInLinkFile(dataDirectory: string): string {
  return join(dataDirectory, "sign-in-link");
}

/** Returns a function that writes the link to a file that only its owner can read. */
export function createSignInLinkFile(dataDirectory: string): (link: string) => Promise<void> {
  return (link) => writeSecretFile(signInLinkFile(dataDirectory), link);
}

/** The code is in the fragment, which browsers do not send: it reaches no log and no `Referer`. */
export function formatSignInLink(issuer: string, code: string): string {
  return `${issuer}/sign-in#${code}`;
}

export function operatorOf({ systemOrgId, operatorId }: Installation): MemberKey {
  return { orgId: systemOrgId, memberId: operatorId };
}
