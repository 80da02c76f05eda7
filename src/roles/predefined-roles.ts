// The roles that are there from the start, the same in every org. They name permissions by pattern, so that a new method is in
// those that it belongs to; test/roles/predefined-roles.golden.txt has what that comes to.
import { resourceTypes } from "../../gen/resource-types.ts";
import type { ResourceDefinition } from "../resource/definition.ts";

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

/** What a role says of itself. What it holds of one resource is said by the definition of that. */
interface Definition {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  /** Whether it has all permissions, of other services too, but those that definitions keep from it. */
  readonly hasAll?: boolean;
  /** The permissions that it has of every resource: collection and verb, either of which can be `*`. */
  readonly picks?: readonly string[];
}

/** Those who read everything may also ask who may do what, and why: both follow from the roles and who is bound to them. */
const reads = ["*.get", "*.list", "access.*"];

const definitions: readonly Definition[] = [
  {
    name: "owner",
    displayName: "Owner",
    description: "Holds every permission, also those of other services.",
    hasAll: true,
  },
  {
    name: "admin",
    displayName: "Admin",
    description:
      "Does everything in an org but suspend it, give it up or grant more than it holds itself. Also holds every permission of other services.",
    hasAll: true,
  },
  {
    name: "editor",
    displayName: "Editor",
    description: "Reads everything; writes projects and groups with what is in them.",
    picks: reads,
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
  },
  {
    name: "groups-admin",
    displayName: "Groups admin",
    description: "Makes groups and says who is in them, as far as it holds what they hold.",
  },
  {
    name: "projects-admin",
    displayName: "Projects admin",
    description: "Makes, changes and removes projects.",
  },
  {
    name: "access-admin",
    displayName: "Access admin",
    description: "Reads everything; makes roles and grants them, as far as it holds their permissions itself.",
    picks: reads,
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
  },
];

/**
 * @param methodPermissions those that the methods of this service need, as their protos declare them.
 * @throws Error when the definition of a resource names a role that there is not, or a verb that no permission has.
 */
export function createPredefinedRoles(
  methodPermissions: readonly string[],
  resources: readonly ResourceDefinition[],
): readonly PredefinedRole[] {
  const known = [...new Set([...methodPermissions, ...resources.flatMap(otherPermissions)])].toSorted();
  requireKnown(known, resources);
  return definitions.map(({ name, displayName, description, hasAll = false, picks = [] }, index) => {
    const identity = { id: idOf(index), name, displayName, description };
    if (!hasAll) {
      const all = [...picks, ...resources.flatMap((resource) => picksOf(resource, resource.access.heldBy[name] ?? []))];
      const picked = known.filter((permission) => all.some((pick) => isPicked(permission, pick)));
      return { ...identity, permissions: picked, except: [], shown: picked };
    }
    const except =
      name === "admin" ? resources.flatMap((resource) => picksOf(resource, resource.access.notByAdmin)) : [];
    const kept = known.filter((permission) => except.some((pick) => isPicked(permission, pick)));
    const shown = kept.length === 0 ? ["*"] : known.filter((permission) => !kept.includes(permission));
    return { ...identity, permissions: "*", except: kept, shown };
  });
}

function otherPermissions(resource: ResourceDefinition): string[] {
  return picksOf(resource, resource.access.otherVerbs ?? []).map((pick) => `iam.${pick}`);
}

/** Permissions of a resource by their verbs. */
function picksOf({ type }: ResourceDefinition, verbs: readonly string[]): string[] {
  return verbs.map((verb) => `${resourceTypes[type].plural}.${verb}`);
}

function requireKnown(known: readonly string[], resources: readonly ResourceDefinition[]): void {
  for (const resource of resources) {
    const { heldBy, notByAdmin } = resource.access;
    const stranger = Object.keys(heldBy).find(
      (role) => !definitions.some(({ name, hasAll }) => name === role && !hasAll),
    );
    if (stranger !== undefined) throw new Error(`the resource ${resource.type} names a predefined role ${stranger}`);
    for (const pick of picksOf(resource, [...Object.values(heldBy).flat(), ...notByAdmin])) {
      if (known.some((permission) => isPicked(permission, pick))) continue;
      throw new Error(`the resource ${resource.type}: no permission is called iam.${pick}`);
    }
  }
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
