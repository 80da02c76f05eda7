// A binding grants a role to a subject in a scope. Bindings with the same subject and scope share a cell. A cell can be found
// by its subject and scope, in the list of its subject, and in the list of its scope. So a decision either probes the subject
// and its groups or walks the cells of a scope, whichever are fewer, and never visits the other scopes in which a group is
// bound.
import { type ConditionTable } from "./condition-table.ts";
import { createHashIndex } from "./hash-index.ts";
import { createIdTable, idWidth } from "./id-table.ts";
import { type IntRecords, createIntRecords, getField, setField } from "./int-records.ts";
import { type Field, createLinkedLists } from "./linked-lists.ts";
import { type RoleTable, roleBindingsField } from "./role-table.ts";
import { type ScopeTable, scopeBit, scopeCellsField } from "./scope-table.ts";
import type { StoredPart } from "./stored-part.ts";
import { isGroup, recordOf } from "./subject.ts";
import { getTime, setTime, timeWidth } from "./time-field.ts";

/** The fields of a binding. */
const cellField = idWidth;
const ofCellLinks = idWidth + 1;
const roleField = idWidth + 3;
const ofRoleLinks = idWidth + 4;
const startField = idWidth + 6;
const expireField = startField + timeWidth;
const conditionField = expireField + timeWidth;
const bindingWidth = conditionField + 1;

/** The fields of a cell. */
const subjectField = 0;
const scopeField = 1;
const nextInHashField = 2;
const cellBindingsField = 3;
const ofSubjectLinks = 4;
const ofScopeLinks = 6;
const cellWidth = 8;

interface Binding {
  readonly subject: number;
  readonly scope: number;
  readonly role: number;
  /** In milliseconds. The binding applies from `startTime` until before `expireTime`. */
  readonly startTime: number;
  readonly expireTime: number;
  /** Empty for none. */
  readonly condition: string;
}

export interface BindingIndex {
  /** Adds the binding, or replaces the one with this id. */
  readonly put: (id: string, binding: Binding) => void;
  /** Returns 0 if there is none. */
  readonly findById: (id: string) => number;
  readonly removeById: (id: string) => void;
  readonly remove: (binding: number) => void;
  readonly findCell: (subject: number, scope: number) => number;
  readonly firstCellOfSubject: (subject: number) => number;
  readonly nextOfSubject: (cell: number) => number;
  readonly firstCellOfScope: (scope: number) => number;
  readonly nextOfScope: (cell: number) => number;
  readonly firstOfCell: (cell: number) => number;
  readonly nextOfCell: (binding: number) => number;
  readonly firstOfRole: (role: number) => number;
  readonly nextOfRole: (binding: number) => number;
  readonly subjectOf: (cell: number) => number;
  readonly scopeOf: (cell: number) => number;
  readonly cellOf: (binding: number) => number;
  readonly roleOf: (binding: number) => number;
  readonly idOf: (binding: number) => string;
  readonly isConditional: (binding: number) => boolean;
  /** Returns the text of the condition; empty for none. */
  readonly conditionOf: (binding: number) => string;
  /** Returns the times in milliseconds; before or after all others if the binding has none. */
  readonly timesOf: (binding: number) => Pick<Binding, "startTime" | "expireTime">;
  readonly holdsAt: (binding: number, now: number) => boolean;
  readonly conditionHolds: (binding: number, context: unknown) => boolean;
  readonly conditionIsCompiled: (binding: number) => boolean;
  /** Reports whether the condition is known not to read the subject. */
  readonly conditionIsForAll: (binding: number) => boolean;
  readonly compare: (binding: number, other: number) => number;
  readonly bytes: () => number;
  readonly parts: () => readonly StoredPart[];
}

interface BindingOwner extends Field {
  /**
   * The field with a bit for each scope in which the owner is bound. Scopes share bits, but the bits rule out most other scopes
   * without a probe.
   */
  readonly bitsField: number;
}

interface BindingOwners {
  /** Where members and groups keep the heads of their lists of cells. */
  readonly members: BindingOwner;
  readonly groups: BindingOwner;
  readonly scopes: ScopeTable;
  readonly roles: RoleTable;
  readonly conditions: ConditionTable;
}

export function createBindingIndex({ members, groups, scopes, roles, conditions }: BindingOwners): BindingIndex {
  const bindings = createIntRecords(bindingWidth);
  const ids = createIdTable(bindings);
  const cells = createIntRecords(cellWidth);
  const subjectLinks = { records: cells, field: ofSubjectLinks };
  const ofMember = createLinkedLists(members, subjectLinks);
  const ofGroup = createLinkedLists(groups, subjectLinks);
  const ofScope = createLinkedLists(
    { records: scopes.records, field: scopeCellsField },
    { records: cells, field: ofScopeLinks },
  );
  const ofCell = createLinkedLists(
    { records: cells, field: cellBindingsField },
    { records: bindings, field: ofCellLinks },
  );
  const ofRole = createLinkedLists(
    { records: roles.custom.records, field: roleBindingsField },
    { records: bindings, field: ofRoleLinks },
  );
  const subjectOf = (cell: number): number => getField(cells, cell, subjectField);
  const scopeOf = (cell: number): number => getField(cells, cell, scopeField);
  const index = createHashIndex(cells, nextInHashField, (cell) => hashPair(subjectOf(cell), scopeOf(cell)));
  const listsOf = (subject: number) => (isGroup(subject) ? ofGroup : ofMember);
  const ownerOf = (subject: number): BindingOwner => (isGroup(subject) ? groups : members);

  function scopeBits(subject: number): number {
    const { records, bitsField } = ownerOf(subject);
    return getField(records, recordOf(subject), bitsField);
  }

  function setScopeBits(subject: number, bits: number): void {
    const { records, bitsField } = ownerOf(subject);
    setField(records, recordOf(subject), bitsField, bits);
  }

  function findCell(subject: number, scope: number): number {
    if ((scopeBits(subject) & scopeBit(scope)) === 0) return 0;
    let cell = index.first(hashPair(subject, scope));
    while (cell !== 0 && (subjectOf(cell) !== subject || scopeOf(cell) !== scope)) cell = index.next(cell);
    return cell;
  }

  function addCell(subject: number, scope: number): number {
    const cell = cells.add();
    setField(cells, cell, subjectField, subject);
    setField(cells, cell, scopeField, scope);
    index.add(cell);
    listsOf(subject).add(recordOf(subject), cell);
    ofScope.add(scope, cell);
    scopes.countCell(scope, 1);
    setScopeBits(subject, scopeBits(subject) | scopeBit(scope));
    return cell;
  }

  function removeCell(cell: number): void {
    const [subject, scope] = [subjectOf(cell), scopeOf(cell)];
    index.remove(cell);
    listsOf(subject).remove(recordOf(subject), cell);
    ofScope.remove(scope, cell);
    scopes.countCell(scope, -1);
    cells.remove(cell);
    if (listsOf(subject).first(recordOf(subject)) === 0) setScopeBits(subject, 0);
  }

  function remove(binding: number): void {
    const cell = getField(bindings, binding, cellField);
    const role = getField(bindings, binding, roleField);
    ids.remove(binding);
    ofCell.remove(cell, binding);
    ofRole.remove(role, binding);
    roles.countBinding(role, -1);
    conditions.giveBack(getField(bindings, binding, conditionField));
    bindings.remove(binding);
    if (ofCell.first(cell) === 0) removeCell(cell);
  }

  function removeById(id: string): void {
    const binding = ids.find(id);
    if (binding !== 0) remove(binding);
  }

  return {
    put(id, { subject, scope, role, startTime, expireTime, condition }) {
      removeById(id);
      const binding = bindings.add();
      const cell = findCell(subject, scope) || addCell(subject, scope);
      ids.add(binding, id);
      setField(bindings, binding, cellField, cell);
      ofCell.add(cell, binding);
      setField(bindings, binding, roleField, role);
      ofRole.add(role, binding);
      roles.countBinding(role, 1);
      setTime(bindings, binding, startField, startTime);
      setTime(bindings, binding, expireField, expireTime);
      if (condition !== "") setField(bindings, binding, conditionField, conditions.take(condition));
    },

    findById: (id) => ids.find(id),
    removeById,
    remove,
    findCell,
    firstCellOfSubject: (subject) => listsOf(subject).first(recordOf(subject)),
    nextOfSubject: ofMember.next,
    firstCellOfScope: ofScope.first,
    nextOfScope: ofScope.next,
    firstOfCell: ofCell.first,
    nextOfCell: ofCell.next,
    firstOfRole: ofRole.first,
    nextOfRole: ofRole.next,
    subjectOf,
    scopeOf,
    cellOf: (binding) => getField(bindings, binding, cellField),
    roleOf: (binding) => getField(bindings, binding, roleField),
    idOf: ids.idOf,
    conditionOf: (binding) => conditions.textOf(getField(bindings, binding, conditionField)),
    isConditional: (binding) => getField(bindings, binding, conditionField) !== 0,
    timesOf: (binding) => readTimes(bindings, binding),
    holdsAt: (binding, now) => isBetween(bindings, binding, now),

    conditionHolds(binding, context) {
      const condition = getField(bindings, binding, conditionField);
      return condition === 0 || conditions.holds(condition, context);
    },
    conditionIsCompiled: (binding) => conditions.isCompiled(getField(bindings, binding, conditionField)),
    conditionIsForAll: (binding) => conditions.isForAll(getField(bindings, binding, conditionField)),
    compare: ids.compare,
    bytes: () => bindings.bytes() + ids.bytes() + cells.bytes() + index.bytes(),
    parts: () => [...bindings.parts(), ...ids.parts(), ...cells.parts(), ...index.parts()],
  };
}

function readTimes(bindings: IntRecords, binding: number): Pick<Binding, "startTime" | "expireTime"> {
  return {
    startTime: getTime(bindings, binding, startField),
    expireTime: getTime(bindings, binding, expireField),
  };
}

function isBetween(bindings: IntRecords, binding: number, now: number): boolean {
  return getTime(bindings, binding, startField) <= now && now < getTime(bindings, binding, expireField);
}

function hashPair(subject: number, scope: number): number {
  const hash = Math.imul(subject, 0x9e3779b1) ^ Math.imul(scope, 0x85ebca6b);
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x7feb352d);
  return mixed ^ (mixed >>> 16);
}
