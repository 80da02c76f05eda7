// What the screen about findings says. It loads it; the first page does not.
import type { Finding_Kind } from "../../../gen/iam/v1alpha/finding_pb.ts";
import type { NamesOf } from "./enum-words.ts";

type KindNames = Readonly<Record<NamesOf<typeof Finding_Kind>, string>>;

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
  since: "Since",
  mends: "What mends it",
  kind: "Kind",
  anyKind: "Any kind",
  unused: "Unused for",
  days: (days: number) => `${days} days`,
  omitted: (kinds: string) =>
    `Not shown, because you may not list what it is found from, or the log does not reach back: ${kinds}.`,
  kinds: {
    API_KEY_WITHOUT_END: "API key without an end",
    API_KEY_UNUSED: "Unused API key",
    MEMBER_UNUSED: "Member who does not sign in",
    ROLE_BINDING_CONTAINED: "Grant within another one",
    GROUP_WITHOUT_MEMBERS: "Group with roles and no members",
    ROLE_UNBOUND: "Role that nobody has",
  } satisfies KindNames as Readonly<Record<string, string>>,
  remedies: {
    API_KEY_WITHOUT_END: "Rotate it, with an end",
    API_KEY_UNUSED: "Delete the key",
    MEMBER_UNUSED: "Suspend the member",
    ROLE_BINDING_CONTAINED: "Take this one away; nobody loses access",
    GROUP_WITHOUT_MEMBERS: "Delete the group",
    ROLE_UNBOUND: "Delete the role",
  } satisfies KindNames as Readonly<Record<string, string>>,
};
