// What the file of an org can have besides the fields of the org itself. What reads files and the help of the command line are made from
// this, so that neither has a key that the other lacks.
import type { FileType } from "./file-resources.ts";
import { grantRoles } from "./names/grant-roles.ts";

/** A list in a file, or limits. */
export interface FileSection {
  readonly key: string;
  /** What it is, as a sentence without its stop. */
  readonly help: string;
  /** What its entries are, whose fields they have; undefined for entries that have keys of their own only. */
  readonly type?: FileType;
  /** Keys of its entries besides the fields of their type. */
  readonly contents?: readonly FileSection[];
}

/** In an order in which each finds what it looks for in those before it. */
export const fileSections = [
  { key: "quota", help: "The limits of the org, such as cpu_cores: 1000" },
  { key: "members", help: "The members", type: "member" },
  { key: "admins", help: "Members who own the org as well", type: "member" },
  { key: "roles", help: "The roles that the org has besides the predefined ones", type: "role" },
  {
    key: "groups",
    help: "The groups",
    type: "group",
    contents: [
      { key: "members", help: "The members of the group", type: "membership" },
      { key: "maintainers", help: "Members of the group as well, as other tools write them", type: "membership" },
      { key: "subgroups", help: "The groups in the group", type: "subgroup" },
      { key: "parent", help: "The group in which the group is, another form of subgroups" },
    ],
  },
  {
    key: "projects",
    help: "The projects",
    type: "project",
    contents: [
      { key: "quota", help: "The limits of the project, such as cpu_cores: 100" },
      { key: "role_bindings", help: "Who has which role on the project", type: "role binding" },
    ],
  },
  { key: "role_bindings", help: "Who has which role on the org", type: "role binding" },
  {
    key: "grants",
    help: "Roles of groups on projects, as imports write them",
    contents: [
      { key: "group", help: "The group" },
      { key: "project", help: "The project" },
      { key: "role", help: `Its role: ${grantRoles.join(", ")}` },
    ],
  },
  { key: "identity_providers", help: "The identity providers with which members sign in", type: "identity provider" },
  { key: "clients", help: "The OAuth clients", type: "client" },
  { key: "webhooks", help: "The webhooks", type: "webhook" },
] as const satisfies readonly FileSection[];

export type SectionKey = (typeof fileSections)[number]["key"];

export const sectionKeys: readonly string[] = fileSections.map(({ key }) => key);

/** The key of what a plan of the file must leave true. */
export const expectKey = "expect";

/** Returns the keys that entries of a section have besides the fields of their type. */
export function contentKeys(key: SectionKey): readonly string[] {
  const section: FileSection | undefined = fileSections.find((each) => each.key === key);
  return (section?.contents ?? []).map((each) => each.key);
}
