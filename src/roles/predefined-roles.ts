// The roles that are there from the start, the same in every org. They name permissions by pattern, so that a new method is in
// those that it belongs to; test/roles/predefined-roles.golden.txt has what that comes to.

export interface PredefinedRole {
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  /** `*` stands for all that there ever will be, those of other services too. */
  readonly permissions: readonly string[] | "*";
  /** What `*` does not stand for here. */
  readonly except: readonly string[];
  /** What readers are shown: `*`, or the permissions that this service knows. */
  readonly shown: readonly string[];
}

/** Permissions that no method needs by itself. */
const extraPermissions = ["iam.roleBindings.grantUnheld"];

/** What a role says of itself. A permission is picked by its collection and verb, either of which can be `*`. */
interface Definition {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  /** Whether it has all permissions, of other services too, but those that are picked. */
  readonly hasAllBut?: boolean;
  readonly picks: readonly string[];
}

/** Whoever reads everything may also ask who may do what, and why: both follow from the roles and who is bound to them. */
const reads = ["*.get", "*.list", "access.*"];

/** Where one is at work: roles for one thing in an org hold this too. */
const theOrg = ["orgs.get", "orgs.list"];

const ofMembers = ["members.get", "members.list"];

const definitions: readonly Definition[] = [
  {
    name: "owner",
    displayName: "Owner",
    description: "Holds every permission, also those of other services.",
    hasAllBut: true,
    picks: [],
  },
  {
    name: "admin",
    displayName: "Admin",
    description:
      "Does everything in an org but suspend it, give it up or grant more than it holds itself. Also holds every permission of other services.",
    hasAllBut: true,
    picks: [
      // It reads customers, as viewers do: it could not grant their role otherwise.
      ...["update", "delete", "undelete", "purge"].map((verb) => `customers.${verb}`),
      ...["delete", "undelete", "purge", "suspend", "activate"].map((verb) => `orgs.${verb}`),
      "roleBindings.grantUnheld",
    ],
  },
  {
    name: "editor",
    displayName: "Editor",
    description: "Reads everything; writes projects and groups with what is in them.",
    picks: [...reads, "projects.*", "groups.*", "groupMembers.*", "subgroups.*"],
  },
  {
    name: "viewer",
    displayName: "Viewer",
    description: "Reads everything, also who may do what and why, and changes nothing.",
    picks: reads,
  },
  {
    name: "members-admin",
    displayName: "Members admin",
    description: "Invites, changes, suspends and removes members.",
    picks: ["members.*", ...theOrg],
  },
  {
    name: "groups-admin",
    displayName: "Groups admin",
    description: "Makes groups and says who is in them, as far as it holds what they hold.",
    picks: ["groups.*", "groupMembers.*", "subgroups.*", ...ofMembers, ...theOrg],
  },
  {
    name: "projects-admin",
    displayName: "Projects admin",
    description: "Makes, changes and removes projects.",
    picks: ["projects.*", ...theOrg],
  },
  {
    name: "access-admin",
    displayName: "Access admin",
    description: "Reads everything; makes roles and grants them, as far as it holds their permissions itself.",
    picks: [...reads, ...["create", "update", "delete"].flatMap((verb) => [`roles.${verb}`, `roleBindings.${verb}`])],
  },
  {
    name: "access-checker",
    displayName: "Access checker",
    description: "Asks who may do what: for services that leave such decisions to this one.",
    picks: ["access.check", "access.list"],
  },
  {
    name: "api-keys-admin",
    displayName: "API keys admin",
    description: "Makes, changes and deletes the API keys of members, as far as it holds what they hold.",
    picks: ["apiKeys.*", ...ofMembers, ...theOrg],
  },
];

/** @param methodPermissions those that the methods of this service need, as their protos declare them. */
export function createPredefinedRoles(methodPermissions: readonly string[]): readonly PredefinedRole[] {
  const known = [...new Set([...methodPermissions, ...extraPermissions])].toSorted();
  return definitions.map(({ name, displayName, description, hasAllBut = false, picks }, index) => {
    const picked = known.filter((permission) => picks.some((pick) => isPicked(permission, pick)));
    const identity = { id: idOf(index), name, displayName, description };
    if (!hasAllBut) return { ...identity, permissions: picked, except: [], shown: picked };
    const shown = picked.length === 0 ? ["*"] : known.filter((permission) => !picked.includes(permission));
    return { ...identity, permissions: "*", except: picked, shown };
  });
}

/** Ids are written down by clients, so a role keeps its place in the list above for good; new ones come last. */
function idOf(index: number): string {
  return `01990000-0000-7000-8000-${String(index + 1).padStart(12, "0")}`;
}

function isPicked(permission: string, pick: string): boolean {
  const [area, ...parts] = permission.split(".");
  const wanted = pick.split(".");
  return area === "iam" && parts.every((part, index) => wanted[index] === "*" || wanted[index] === part);
}
