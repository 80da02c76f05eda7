import type { NamedPermissions } from "./named-permissions.ts";
import { getField, setField } from "./int-records.ts";
import { type EntityState, type EntityTable, createEntityTable, entityWidth } from "./entity-table.ts";
import {
  type PermissionClasses,
  allClasses,
  classOf,
  classesIn,
  hasClass,
  isWildcard,
  noClasses,
} from "./permission-class.ts";
import {
  type PermissionSet,
  createPermissionSet,
  hasPermission,
  listedNumbers,
  noPermissions,
} from "./permission-set.ts";
import {
  type PermissionTable,
  type SharedPermissions,
  createPermissionTable,
  sharePermissions,
} from "./permission-table.ts";

import { type StoredPart, createRowsPart } from "./stored-part.ts";

/** The field in which a role keeps the head of its list of bindings. */
export const roleBindingsField = entityWidth;
const bindingCountField = entityWidth + 1;

/**
 * The permissions of a role: a list, or `*` for all present and future permissions. The list of a predefined role can contain
 * wildcards, such as `*.*.get` for the permission to get the resources of every other service.
 */
export interface RolePermissions {
  readonly permissions: readonly string[] | "*";
}

export function classesOf({ permissions }: RolePermissions): PermissionClasses {
  return permissions === "*" ? allClasses : classesIn(permissions);
}

export function namedIn({ permissions }: RolePermissions): readonly string[] {
  return permissions === "*" ? [] : permissions.filter((each) => !isWildcard(each));
}

/** The roles that every org has, by name. */
export type PredefinedRoles = Readonly<Record<string, RolePermissions>>;

/** Identifies a role outside of the engine. */
export type RoleIdentity =
  | { readonly kind: "predefined"; readonly name: string }
  | { readonly kind: "custom"; readonly id: string };

/** Predefined and custom roles, numbered together. A deleted role stays, without permissions. */
export interface RoleTable {
  readonly custom: EntityTable;
  readonly permissions: PermissionTable;
  readonly findPredefined: (name: string) => number;
  readonly putCustom: (id: string, name: string, state: EntityState, permissions: readonly string[]) => number;
  readonly retireCustom: (role: number) => void;
  readonly releaseCustom: (role: number) => void;
  readonly has: (role: number, permission: number) => boolean;
  /** Reports whether these roles together have every permission of the role. */
  readonly covers: (held: readonly number[], role: number) => boolean;
  readonly classesOf: (role: number) => PermissionClasses;
  readonly permissionsOf: (role: number) => NamedPermissions;
  /** Returns the number of permissions of the role; Infinity for a role with `*`. A class counts more than any list. */
  readonly sizeOf: (role: number) => number;
  readonly identityOf: (role: number) => RoleIdentity;
  readonly nameOf: (role: number) => string;
  readonly having: (permission: number) => number[];
  readonly bindingCountOf: (role: number) => number;
  readonly countBinding: (role: number, change: 1 | -1) => void;
  readonly bytes: () => number;
  readonly parts: () => readonly StoredPart[];
}

/** What the role tables of all orgs have in common. It is most of the memory of a small org. */
interface SharedRoles {
  readonly permissions: SharedPermissions;
  readonly numbers: ReadonlyMap<string, number>;
  readonly names: ReadonlyMap<number, string>;
  /** By role. */
  readonly sets: readonly PermissionSet[];
}

/** Only saves work: the same predefined roles always give the same. */
const shared = new WeakMap<PredefinedRoles, SharedRoles>();

function shareRoles(predefinedRoles: PredefinedRoles): SharedRoles {
  const known = shared.get(predefinedRoles);
  if (known !== undefined) return known;
  const roles = Object.entries(predefinedRoles).map(([name, held], index) => {
    const classes = classesOf(held);
    const listed = namedIn(held).filter((permission) => !hasClass(classes, classOf(permission)));
    return { name, role: index + 1, classes, listed };
  });
  const permissions = sharePermissions(roles.flatMap(({ listed }) => listed));
  const numberOf = (permission: string): number => permissions.numbers.get(permission) ?? 0;
  const sets = roles.map(({ listed, classes }) => createPermissionSet(listed.map(numberOf), classes));
  const made = {
    permissions,
    numbers: new Map(roles.map(({ name, role }) => [name, role])),
    names: new Map(roles.map(({ name, role }) => [role, name])),
    sets: [noPermissions, ...sets],
  };
  shared.set(predefinedRoles, made);
  return made;
}

export function createRoleTable(predefinedRoles: PredefinedRoles): RoleTable {
  const custom = createEntityTable(2);
  const { records } = custom;
  const { numbers: predefined, names: predefinedNames, sets: firstSets, ...common } = shareRoles(predefinedRoles);
  const permissions = createPermissionTable(common.permissions);
  const sets = [...firstSets];
  while (records.end() < sets.length) records.add();

  const setOf = (role: number): PermissionSet => sets[role] ?? noPermissions;

  /** Takes the new permissions before it gives back the old ones, so that permissions in both keep their numbers. */
  function setPermissions(role: number, held: readonly string[]): void {
    const numbers = [...new Set(held)].map(permissions.take);
    for (const number of listedNumbers(setOf(role))) permissions.giveBack(number);
    sets[role] = createPermissionSet(numbers);
  }

  return {
    custom,
    permissions,
    findPredefined: (name) => predefined.get(name) ?? 0,

    putCustom(id, name, state, held) {
      const role = custom.put(id, name, state);
      setPermissions(role, state === "ACTIVE" ? held : []);
      return role;
    },

    retireCustom(role) {
      custom.retire(role);
      setPermissions(role, []);
    },

    releaseCustom: (role) => custom.release(role),
    has: (role, permission) => hasPermission(setOf(role), permission),

    covers(held, role) {
      const wanted = setOf(role);
      const own = held.map(setOf);
      const classes = own.reduce((all, set) => all | set.classes, noClasses);
      if ((wanted.classes & ~classes) !== 0) return false;
      return listedNumbers(wanted).every((number) => own.some((set) => hasPermission(set, number)));
    },

    classesOf: (role) => setOf(role).classes,

    permissionsOf(role) {
      const set = setOf(role);
      return { classes: set.classes, names: new Set(listedNumbers(set).map(permissions.nameOf)) };
    },

    sizeOf: (role) => setOf(role).size,

    identityOf(role) {
      const name = predefinedNames.get(role);
      return name === undefined ? { kind: "custom", id: custom.idOf(role) } : { kind: "predefined", name };
    },

    nameOf: (role) => predefinedNames.get(role) ?? custom.nameOf(role),
    having: (permission) => [...sets.keys()].filter((role) => hasPermission(setOf(role), permission)),
    bindingCountOf: (role) => getField(records, role, bindingCountField),
    countBinding: (role, change) =>
      setField(records, role, bindingCountField, getField(records, role, bindingCountField) + change),
    bytes() {
      const own = sets.slice(firstSets.length);
      return custom.bytes() + permissions.bytes() + own.reduce((sum, set) => sum + 100 + set.bits.byteLength, 0);
    },

    parts: () => [
      ...custom.parts(),
      ...permissions.parts(),
      ...createRowsPart(
        "permissions of roles",
        () => sets.flatMap((set, role) => (role < firstSets.length ? [] : [{ role, set }])),
        ({ role, set }) => (sets[role] = set),
      ),
    ],
  };
}
