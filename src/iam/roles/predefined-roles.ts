// The predefined roles, which are the same in every org. They name permissions by pattern, so that a new method is included in
// the roles to which it belongs. test/iam/roles/predefined-roles.golden.txt has the resulting permissions.
import { resourceTypes } from "../../../gen/resource-types.ts";
import { type PermissionWildcard, classOf, permissionClass } from "../../access/engine/tables/permission-class.ts";
import type { ResourceDefinition } from "../../standard-methods/definition/definition.ts";

export interface PredefinedRole {
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  /**
   * `*` stands for all present and future permissions, including those of other services. In a list, wildcards such as
   * `*.*.get` stand for permissions of all other services.
   */
  readonly permissions: readonly string[] | "*";
  /** The permissions that readers see: `*`, or those that this service knows and wildcards for those of other services. */
  readonly shown: readonly string[];
}

/** A role itself. The definition of each resource has the permissions that roles hold on it. */
interface Definition {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  /**
   * `all` for every permission. `most` for every permission of other services, and those that this service knows of its own,
   * except those that definitions withhold with `notByAdmin`.
   */
  readonly has?: "all" | "most";
  /** The permissions that it has on every resource: area, collection and verb, each of which can be `*`. */
  readonly picks?: readonly string[];
  /** The permissions of other services that it has. */
  readonly ofOthers?: readonly PermissionWildcard[];
}

/** Roles that read everything may also ask who may do what, and why: both follow from roles and bindings. */
const reads = {
  picks: ["*.*.get", "*.*.list", "iam.access.*"],
  ofOthers: ["*.*.get", "*.*.list"],
} as const;

/** What none of these roles reads: from where members sign in, and what they tried. */
const notForReaders: ReadonlySet<string> = new Set(["iam.accessEvents.list"]);

const definitions: readonly Definition[] = [
  {
    name: "owner",
    displayName: "Owner",
    description: "Holds every permission, also those of other services.",
    has: "all",
  },
  {
    name: "admin",
    displayName: "Admin",
    description:
      "Holds every permission, those of other services included, except to change customers, to suspend, activate, delete or purge orgs, and to grant or take away more than it holds itself.",
    has: "most",
  },
  {
    name: "editor",
    displayName: "Editor",
    description:
      "Reads everything but sign-ins and refused calls; writes projects, groups and their contents, groups limited to permissions that it holds itself, and everything of other services; asks for higher limits of quotas.",
    picks: reads.picks,
    ofOthers: ["*.*.*"],
  },
  {
    name: "viewer",
    displayName: "Viewer",
    description: "Reads everything but sign-ins and refused calls, including who has access and why. Changes nothing.",
    ...reads,
  },
  {
    name: "members-admin",
    displayName: "Members admin",
    description: "Invites and changes members; suspends and removes those whose permissions it holds itself.",
  },
  {
    name: "groups-admin",
    displayName: "Groups admin",
    description: "Manages groups and their members, limited to permissions that it holds itself.",
  },
  {
    name: "projects-admin",
    displayName: "Projects admin",
    description: "Creates, changes and deletes projects; asks for higher limits of quotas.",
  },
  {
    name: "access-admin",
    displayName: "Access admin",
    description:
      "Reads everything but sign-ins and refused calls; manages roles and role bindings, limited to permissions that it holds itself.",
    ...reads,
  },
  {
    name: "access-checker",
    displayName: "Access checker",
    description: "Checks and lists access, for services that delegate these decisions to this one.",
    picks: ["iam.access.check", "iam.access.list"],
  },
  {
    name: "api-keys-admin",
    displayName: "API keys admin",
    description:
      "Creates, changes and deletes the API keys of members, limited to members whose permissions it holds itself.",
  },
  {
    name: "provider",
    displayName: "Provider",
    description:
      "Manages the resource types of a service, on which it is granted to the application that runs the service's resources.",
  },
  {
    name: "token-introspector",
    displayName: "Token introspector",
    description: "Asks whether the access tokens of members are valid, for services that are called with them.",
  },
  {
    name: "provisioner",
    displayName: "Provisioner",
    description: "Creates, changes and deactivates members and groups by SCIM, for the application of a SCIM source.",
  },
];

/** The names of the predefined roles. */
export const predefinedRoleNames: readonly string[] = definitions.map(({ name }) => name);

/**
 * Returns the predefined roles with their permissions.
 *
 * @param methodPermissions the permissions that the methods of this service require, as their protos declare them, or all that
 *   `listKnownPermissions` returns for them.
 * @throws Error when the definition of a resource names a role that does not exist or a verb that no permission has, or when a
 *   permission would count as another service's.
 */
export function createPredefinedRoles(
  methodPermissions: readonly string[],
  resources: readonly ResourceDefinition[],
): readonly PredefinedRole[] {
  const known = listKnownPermissions(methodPermissions, resources);
  requireKnown(known, resources);
  requireOwn(known);
  const isWithheld = pickedBy(resources.flatMap((resource) => picksOf(resource, resource.access.notByAdmin)));
  return definitions.map(({ name, displayName, description, has, picks = [], ofOthers = [] }, index) => {
    const identity = { id: idOf(index), name, displayName, description };
    if (has === "all") return { ...identity, permissions: "*", shown: ["*"] };
    const held = resources.flatMap((resource) => picksOf(resource, resource.access.heldBy[name] ?? []));
    const permissions =
      has === "most"
        ? [...known.filter((permission) => !isWithheld(permission)), "*.*.*"]
        : [...known.filter(pickedBy([...picks, ...held])).filter((each) => !notForReaders.has(each)), ...ofOthers];
    return { ...identity, permissions, shown: permissions };
  });
}

/** Returns all permissions of this service, in order: those that its methods require, and those of no method. */
export function listKnownPermissions(
  methodPermissions: readonly string[],
  resources: readonly ResourceDefinition[],
): readonly string[] {
  return [...new Set([...methodPermissions, ...resources.flatMap(otherPermissions)])].toSorted();
}

function otherPermissions(resource: ResourceDefinition): string[] {
  return picksOf(resource, resource.access.otherVerbs ?? []);
}

function picksOf({ type }: ResourceDefinition, verbs: readonly string[]): string[] {
  const { area, plural } = resourceTypes[type];
  return verbs.map((verb) => `${area}.${plural}.${verb}`);
}

function requireKnown(known: readonly string[], resources: readonly ResourceDefinition[]): void {
  for (const resource of resources) {
    const { heldBy, notByAdmin } = resource.access;
    const roles = definitions.filter(({ has }) => has === undefined).map(({ name }) => name);
    const unknown = Object.keys(heldBy).find((role) => !roles.includes(role));
    if (unknown !== undefined) {
      throw new Error(
        `the resource ${resource.type}: heldBy names the unknown role ${unknown}; the roles are ${roles.join(", ")}`,
      );
    }
    for (const pick of picksOf(resource, [...Object.values(heldBy).flat(), ...notByAdmin])) {
      if (known.some(pickedBy([pick]))) continue;
      throw new Error(`the resource ${resource.type}: no permission is called ${pick}`);
    }
  }
}

/** Checks that wildcards for the permissions of other services do not stand for a permission of this one. */
function requireOwn(known: readonly string[]): void {
  const other = known.find((permission) => classOf(permission) !== permissionClass.own);
  if (other !== undefined) throw new Error(`the permission ${other} is in an area that has no resource`);
}

/** Clients store these ids. So a role keeps its place in the list above permanently, and new roles come last. */
function idOf(index: number): string {
  return `01990000-0000-7000-8000-${String(index + 1).padStart(12, "0")}`;
}

/** Returns whether a permission is one of these, in which a part can be `*`. */
function pickedBy(picks: readonly string[]): (permission: string) => boolean {
  const exact = new Set(picks);
  const patterns = picks.filter((pick) => pick.includes("*")).map((pick) => pick.split("."));
  return (permission) => {
    if (exact.has(permission)) return true;
    const parts = permission.split(".");
    return patterns.some((wanted) => parts.every((part, index) => wanted[index] === "*" || wanted[index] === part));
  };
}
