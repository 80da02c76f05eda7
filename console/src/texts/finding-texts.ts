// What the screen about findings says. It loads it; the first page does not.
import type { Finding_Kind } from "../../../gen/iam/v1alpha/finding_pb.ts";
import type { NamesOf } from "./enum-words.ts";

type KindNames = Readonly<Record<NamesOf<typeof Finding_Kind>, string>>;

/** How many permissions of a role are named beside it. */
const shownPermissions = 3;

export const findingTexts = {
  title: "Findings",
  intro:
    "What deserves a look: access that nobody seems to need, and keys that never end. What to do about it is for you to decide.",
  search: "Search paths",
  none: "Nothing was found.",
  noneHint: "Nothing here is unused, never ends, or gives what something else gives as well.",
  noneFound: "Nothing was found with these words, of this kind.",
  noneOnPage: "Nothing was found on this page. The next one goes on.",
  where: "Where",
  besides: "besides",
  permissions: (names: readonly string[]) =>
    names.length > shownPermissions
      ? `${names.slice(0, shownPermissions).join(", ")} and ${names.length - shownPermissions} more`
      : names.join(", "),
  since: "Since",
  mends: "What mends it",
  kind: "Kind",
  anyKind: "Any kind",
  unused: "Unused for",
  days: (days: number) => `${days} days`,
  omitted: (kinds: string) =>
    `Not shown, because you may not list what it is found from, or what was used is not known for so long: ${kinds}.`,
  kinds: {
    API_KEY_WITHOUT_END: "API key without an end",
    API_KEY_UNUSED: "Unused API key",
    MEMBER_UNUSED: "Member who does not sign in",
    ROLE_BINDING_CONTAINED: "Grant within another one",
    GROUP_WITHOUT_MEMBERS: "Group with roles and no members",
    ROLE_UNBOUND: "Role that nobody has",
    ROLE_BINDING_UNUSED: "Unused grant",
    GROUP_MEMBER_UNUSED: "Unused membership",
    SUBGROUP_UNUSED: "Unused group in a group",
    ROLE_PERMISSION_UNUSED: "Role with unused permissions",
    CLIENT_UNUSED: "Unused client",
  } satisfies KindNames as Readonly<Record<string, string>>,
  remedies: {
    API_KEY_WITHOUT_END: "Replace it by one that ends",
    API_KEY_UNUSED: "Delete the key",
    MEMBER_UNUSED: "Suspend the member",
    ROLE_BINDING_CONTAINED: "Take this one away; nobody loses access",
    GROUP_WITHOUT_MEMBERS: "Delete the group",
    ROLE_UNBOUND: "Delete the role",
    ROLE_BINDING_UNUSED: "Take it away",
    GROUP_MEMBER_UNUSED: "Take the member out of the group",
    SUBGROUP_UNUSED: "Take the inner group out of the group",
    ROLE_PERMISSION_UNUSED: "Take the permissions out of the role",
    CLIENT_UNUSED: "Delete the client",
  } satisfies KindNames as Readonly<Record<string, string>>,
};
