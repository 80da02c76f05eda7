import { createIdTable, idWidth } from "./id-table.ts";
import { type IntRecords, createIntRecords, getField, setField } from "./int-records.ts";
import { createNameTable, nameWidth } from "./name-table.ts";
import type { StoredPart } from "./stored-part.ts";
import type { PackedIds } from "./uuid.ts";

const stateField = idWidth;

/** The first of the owner's fields. The name's fields follow them, so that the fields that decisions read are close together. */
export const entityWidth = stateField + 1;

/** A deleted entity stays, without its name, until it is purged. An undelete restores it with everything that refers to it. */
export type EntityState = "ACTIVE" | "SUSPENDED" | "INVITED" | "DELETED";

/** The states as tables store them. What was suspended when it was deleted stays so: access to what is in it is denied as before. */
export type StoredState = EntityState | "SUSPENDED AND DELETED";

/** Purged, but the sweeper has not removed all references yet. */
const gone = "GONE";

/** Their numbers begin at 1. The last ones are not live. */
const states = ["ACTIVE", "SUSPENDED", "INVITED", "DELETED", gone, "SUSPENDED AND DELETED"] as const;
const numberOf = (state: (typeof states)[number]): number => states.indexOf(state) + 1;
const active = numberOf("ACTIVE");
const suspended = numberOf("SUSPENDED");
const deleted = numberOf("DELETED");
const suspendedAndDeleted = numberOf("SUSPENDED AND DELETED");

export interface EntityReference {
  readonly by: "id" | "name";
  readonly value: string;
}

/** Entities in columns. Elements with the same index belong to the same entity. */
export interface EntityColumns {
  readonly ids: PackedIds;
  readonly names: readonly string[];
  readonly states: readonly StoredState[];
}

/** A table of members, groups, projects or roles, which have an id and a name. */
export interface EntityTable {
  readonly records: IntRecords;
  /** Returns 0 if there is none. A reference by id also finds a deleted entity. */
  readonly find: (reference: EntityReference) => number;
  readonly findById: (id: string) => number;
  /** Writes the result of `findById` for each id. */
  readonly findAll: (ids: PackedIds, found: Int32Array) => void;
  /** Adds the entity, or changes the name and state of the one with this id. */
  readonly put: (id: string, name: string, state: StoredState) => number;
  /** Puts many entities, in a third of the time. An id must not be in `columns` twice. */
  readonly putAll: (columns: EntityColumns) => void;
  /** Removes the entity permanently. Its record stays until `release`. */
  readonly retire: (record: number) => void;
  readonly release: (record: number) => void;
  /** Reports whether the entity exists and is not deleted. */
  readonly isLive: (record: number) => boolean;
  readonly isActive: (record: number) => boolean;
  /** Reports whether the entity is suspended, or was when it was deleted. */
  readonly isSuspended: (record: number) => boolean;
  /** Returns undefined for a purged entity. */
  readonly stateOf: (record: number) => EntityState | undefined;
  readonly idOf: (record: number) => string;
  /** Returns an empty name for a deleted entity. */
  readonly nameOf: (record: number) => string;
  readonly compare: (record: number, other: number) => number;
  readonly comesAfter: (id: string) => (record: number) => boolean;
  /** Reserves room for this many entities. Has no effect once there are any. */
  readonly reserve: (total: number) => void;
  readonly bytes: () => number;
  readonly parts: () => readonly StoredPart[];
}

function isDeleted(state: StoredState): boolean {
  return state === "DELETED" || state === "SUSPENDED AND DELETED";
}

/** Does the same as a table's `isLive`, but is inlined. */
export function isLiveEntity(records: IntRecords, record: number): boolean {
  const state = getField(records, record, stateField);
  return state !== 0 && state < deleted;
}

/** @param ownWidth the number of fields that the owner uses, from `entityWidth` on. */
export function createEntityTable(ownWidth: number): EntityTable {
  const records = createIntRecords(entityWidth + ownWidth + nameWidth);
  const ids = createIdTable(records);
  const names = createNameTable(records, entityWidth + ownWidth);

  const isLive = (record: number): boolean => isLiveEntity(records, record);

  function update(record: number, name: string, state: StoredState): void {
    if (isDeleted(state)) names.clear(record);
    else names.set(record, name);
    setState(record, state);
  }

  function setState(record: number, state: StoredState | typeof gone): void {
    setField(records, record, stateField, numberOf(state));
  }

  return {
    records,
    find: ({ by, value }) => (by === "id" ? ids.find(value) : names.find(value)),
    findById: (id) => ids.find(id),
    findAll: ids.findAll,

    put(id, name, state) {
      let record = ids.find(id);
      if (record === 0) {
        record = records.add();
        ids.add(record, id);
      }
      update(record, name, state);
      return record;
    },

    putAll({ ids: theirIds, names: theirNames, states: theirStates }) {
      const found = new Int32Array(theirNames.length);
      ids.findAll(theirIds, found);
      const added: { records: number[]; rows: number[] } = { records: [], rows: [] };
      const named: { records: number[]; names: string[] } = { records: [], names: [] };
      for (let row = 0; row < found.length; row++) {
        const [known, name, state] = [found[row] as number, theirNames[row] as string, theirStates[row] as StoredState];
        if (known !== 0) {
          update(known, name, state);
          continue;
        }
        const record = records.add();
        added.records.push(record);
        added.rows.push(row);
        setState(record, state);
        if (isDeleted(state)) continue;
        named.records.push(record);
        named.names.push(name);
      }
      ids.addAll(added.records, theirIds, added.rows);
      names.addAll(named.records, named.names);
    },

    retire(record) {
      ids.remove(record);
      names.clear(record);
      setState(record, gone);
    },

    release: (record) => records.remove(record),
    isLive,
    isActive: (record) => getField(records, record, stateField) === active,

    isSuspended(record) {
      const state = getField(records, record, stateField);
      return state === suspended || state === suspendedAndDeleted;
    },

    stateOf(record) {
      const state = states[getField(records, record, stateField) - 1];
      if (state === gone) return undefined;
      return state === "SUSPENDED AND DELETED" ? "DELETED" : state;
    },

    idOf: ids.idOf,
    nameOf: names.nameOf,
    compare: ids.compare,
    comesAfter: ids.comesAfter,

    reserve(total) {
      ids.reserve(total);
      names.reserve(total);
    },

    bytes: () => records.bytes() + ids.bytes() + names.bytes(),
    parts: () => [...records.parts(), ...ids.parts(), ...names.parts()],
  };
}
