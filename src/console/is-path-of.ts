import type { SignedInMember } from "../iam/sign-in/browser-sessions.ts";

/** Reports whether a text is the path of a member, with or without the leading slash, by names or by `@` and the ids. */
export function isPathOf(text: string, { path, orgId, memberId }: SignedInMember): boolean {
  const names = path.split("/").slice(1);
  const ids = ["orgs", `@${orgId}`, "members", `@${memberId}`];
  const segments = text.replace(/^\//, "").split("/");
  return segments.length === ids.length && segments.every((each, at) => each === names[at] || each === ids[at]);
}
