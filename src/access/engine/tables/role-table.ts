import type { NamedPermissions } from "./named-permissions.ts";
import { getField, setField } from "./int-records.ts";
import { type EntityState, type EntityTable, createEntityTable, entityWidth } from "./entity-table.ts";
import {
  type PermissionSet,
  createPermissionSet,
  hasPermission,
  listPermissionNumbers,
  noPermissions,
} from "./permission-set.ts";
import { type PermissionTable, createPermissionTable } from "./permission-table.ts";

/** The field in which a role keeps the head of its list of bindings. */
export const roleBindingsField = entityWidth;
const bindingCountField = entityWidth + 1;

/** The permissions of a role: a list, or `*` for all present and future permissions, with exceptions. */
export interface RolePermissions {
  readonly permissions: readonly string[] | "*";
  /** The exceptions from `*`. */
  readonly except: readonly string[];
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
  /** Returns the permissions that a role with `*` does not have; undefined for a role with a list. */
  readonly exceptionsOf: (role: number) => readonly string[] | undefined;
  readonly permissionsOf: (role: number) => NamedPermissions;
  /** Returns the number of permissions of the role; Infinity for a role with `*`. */
  readonly sizeOf: (role: number) => number;
  readonly identityOf: (role: number) => RoleIdentity;
  readonly nameOf: (role: number) => string;
  /** Returns the roles that have the permission. */
  readonly having: (permission: number) => number[];
  readonly bindingCountOf: (role: number) => number;
  readonly countBinding: (role: number, change: 1 | -1) => void;
  readonly bytes: () => number;
}

export function createRoleTable(predefinedRoles: PredefinedRoles): RoleTable {
  const custom = createEntityTable(2);
  const { records } = custom;
  const permissions = createPermissionTable();
  const sets: PermissionSet[] = [noPermissions];
  const predefined = new Map<string, number>();
  const predefinedNames = new Map<number, string>();
  const exceptions = new Map<number, readonly string[]>();

  for (const [name, { permissions: held, except }] of Object.entries(predefinedRoles)) {
    const role = records.add();
    predefined.set(name, role);
    predefinedNames.set(role, name);
    if (held === "*") exceptions.set(role, except);
    sets[role] =
      held === "*"
        ? createPermissionSet(except.map(permissions.take), true)
        : createPermissionSet(held.map(permissions.take));
  }

  const setOf = (role: number): PermissionSet => sets[role] ?? noPermissions;

  /** Takes the new permissions before it gives back the old ones, so that permissions in both keep their numbers. */
  function setPermissions(role: number, held: readonly string[]): void {
    const numbers = [...new Set(held)].map(permissions.take);
    for (const number of listPermissionNumbers(setOf(role))) permissions.giveBack(number);
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
      const isHeld = (permission: number): boolean => own.some((set) => hasPermission(set, permission));
      if (!wanted.allBut) return listPermissionNumbers(wanted).every(isHeld);
      // Only roles with `*` have permissions that nothing names yet. Their exceptions are in their lists.
      const ofAll = own.filter(({ allBut }) => allBut);
      const left = ofAll.flatMap(listPermissionNumbers).filter((permission) => hasPermission(wanted, permission));
      return ofAll.length > 0 && left.every(isHeld);
    },

    exceptionsOf: (role) => exceptions.get(role),

    permissionsOf(role) {
      const set = setOf(role);
      return { allBut: set.allBut, names: new Set(listPermissionNumbers(set).map(permissions.nameOf)) };
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
    bytes: () => custom.bytes() + permissions.bytes() + sets.reduce((sum, set) => sum + 100 + set.bits.byteLength, 0),
  };
}
