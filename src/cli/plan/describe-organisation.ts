import { Member_Type } from "../../../gen/iam/v1alpha/member_pb.ts";
import { formatPath } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import type { Creation } from "./creation.ts";
import { describeGrants } from "./describe-grants.ts";
import { type Naming, type RenamedEntry, createNaming } from "./naming.ts";
import type { GroupEntry, MemberEntry, OrganisationFile } from "../file/organisation-file.ts";

/** An organisation file in terms of the API, with the entries that could not be represented. */
export interface DescribedOrganisation {
  readonly org: string;
  /** All resources that should exist, in an order in which they can be created. */
  readonly creations: readonly Creation[];
  readonly renamed: readonly RenamedEntry[];
  /** Group members that are not members of the organisation. */
  readonly skipped: readonly { readonly group: string; readonly member: string }[];
  /** The number of duplicate entries. */
  readonly repeated: number;
}

const memberTypes: Record<MemberEntry["type"], Member_Type> = {
  "": Member_Type.USER,
  user: Member_Type.USER,
  application: Member_Type.APPLICATION,
};

/** The names in the API of what a file names, by the `nameKey` of the originals. */
export type OrganisationNames = Readonly<Record<"org" | "member" | "group" | "project", ReadonlyMap<string, string>>>;

/** @param names from `resolveNames`. */
export function describeOrganisation(file: OrganisationFile, names: OrganisationNames): DescribedOrganisation {
  const orgs = createNaming("org", [file.org], names.org);
  const members = createNaming("member", file.members, names.member);
  const groups = createNaming("group", file.groups, names.group);
  const projects = createNaming("project", file.projects, names.project);

  const [{ name: org, fields: orgFields } = { name: "", fields: {} }] = orgs.named;
  const orgPath = formatPath(patterns.Org, org);
  const groupPath = (name: string) => formatPath(patterns.Group, org, name);
  const memberPath = (name: string) => formatPath(patterns.Member, org, name);

  const subgroups = groups.named.flatMap(({ entry, name }): Creation[] => {
    if (entry.parent === "") return [];
    const parent = groups.nameOf(entry.parent) ?? "";
    return [
      {
        kind: "subgroup",
        path: formatPath(patterns.Subgroup, org, parent, name),
        request: { parentPath: groupPath(parent), subgroup: { groupPath: groupPath(name) } },
      },
    ];
  });

  const { memberships, skipped, repeated } = describeMemberships(org, groups, members);

  return {
    org,
    creations: [
      { kind: "org", path: orgPath, request: { org: orgFields } },
      ...members.named.map(({ entry, name, fields }): Creation => ({
        kind: "member",
        path: memberPath(name),
        request: { parentPath: orgPath, member: { ...fields, type: memberTypes[entry.type] } },
      })),
      ...groups.named.map(({ name, fields }): Creation => ({
        kind: "group",
        path: groupPath(name),
        request: { parentPath: orgPath, group: fields },
      })),
      ...projects.named.map(({ name, fields }): Creation => ({
        kind: "project",
        path: formatPath(patterns.Project, org, name),
        request: { parentPath: orgPath, project: fields },
      })),
      ...subgroups,
      ...memberships,
      ...describeGrants(file, org, { members, groups, projects }),
    ],
    renamed: [orgs, members, groups, projects].flatMap((naming) => naming.renamed),
    skipped,
    repeated: file.repeated + repeated,
  };
}

/** Describes the distinct memberships of groups, both of maintainers and of members. */
function describeMemberships(
  org: string,
  groups: Naming<GroupEntry>,
  members: Naming<MemberEntry>,
): { memberships: Creation[]; skipped: { group: string; member: string }[]; repeated: number } {
  const memberships = new Map<string, Creation>();
  const skipped: { group: string; member: string }[] = [];
  let repeated = 0;
  for (const { entry, name: group } of groups.named) {
    for (const given of entry.members) {
      const member = members.nameOf(given);
      if (member === undefined) {
        skipped.push({ group: entry.name, member: given });
        continue;
      }
      const path = formatPath(patterns.GroupMember, org, group, member);
      if (memberships.has(path)) repeated++;
      const request = {
        parentPath: formatPath(patterns.Group, org, group),
        groupMember: { memberPath: formatPath(patterns.Member, org, member) },
      };
      memberships.set(path, { kind: "membership", path, request });
    }
  }
  return { memberships: [...memberships.values()], skipped, repeated };
}
