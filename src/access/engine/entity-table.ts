import { createIdTable, idWidth } from "./id-table.ts";
import { type IntRecords, createIntRecords, getField, setField } from "./int-records.ts";
import { createNameTable, nameWidth } from "./name-table.ts";
import type { PackedIds } from "./uuid.ts";

const stateField = idWidth;

/** The fields from here on are the owner's. The name's come after them: decisions read the others, which are close together. */
export const entityWidth = stateField + 1;

/** A deleted one stays, without its name, until it is purged: an undelete brings it back with all that refers to it. */
export type EntityState = "ACTIVE" | "SUSPENDED" | "INVITED" | "DELETED";

const states = ["ACTIVE", "SUSPENDED", "INVITED", "DELETED"] as const satisfies readonly EntityState[];
const active = 1;
const deleted = 4;
/** Purged, but there are still references that the sweeper has to take away. */
const gone = 5;

/** By what a path names a resource. */
export interface EntityReference {
  readonly by: "id" | "name";
  readonly value: string;
}

/** Entities, of which each column has something in the same place. */
export interface EntityColumns {
  readonly ids: PackedIds;
  readonly names: readonly string[];
  readonly states: readonly EntityState[];
}

/** Members, groups, projects or roles: what has an id and a name. */
export interface EntityTable {
  readonly records: IntRecords;
  /** 0 when there is none; by id a deleted one is found too. */
  readonly find: (reference: EntityReference) => number;
  readonly findById: (id: string) => number;
  /** Writes for each of the ids what `findById` would answer. */
  readonly findAll: (ids: PackedIds, found: Int32Array) => void;
  /** Adds the entity, or makes the one with this id what the arguments say. */
  readonly put: (id: string, name: string, state: EntityState) => number;
  /** Puts many, which takes a third of the time; each id may be there once. */
  readonly putAll: (columns: EntityColumns) => void;
  /** Takes the entity away for good; its record stays until `release`. */
  readonly retire: (record: number) => void;
  readonly release: (record: number) => void;
  /** Whether it is there and not deleted. */
  readonly isLive: (record: number) => boolean;
  readonly isActive: (record: number) => boolean;
  /** Undefined for one that was purged. */
  readonly stateOf: (record: number) => EntityState | undefined;
  readonly idOf: (record: number) => string;
  /** Empty for one that is deleted. */
  readonly nameOf: (record: number) => string;
  /** The order of ids. */
  readonly compare: (record: number, other: number) => number;
  readonly comesAfter: (id: string) => (record: number) => boolean;
  /** Makes room for so many, before there are any. */
  readonly reserve: (total: number) => void;
  readonly bytes: () => number;
}

/** The same as a table's `isLive`, to be inlined. */
export function isLiveEntity(records: IntRecords, record: number): boolean {
  const state = getField(records, record, stateField);
  return state !== 0 && state < deleted;
}

/** @param ownWidth how many fields the owner wants from `entityWidth` on. */
export function createEntityTable(ownWidth: number): EntityTable {
  const records = createIntRecords(entityWidth + ownWidth + nameWidth);
  const ids = createIdTable(records);
  const names = createNameTable(records, entityWidth + ownWidth);

  const isLive = (record: number): boolean => isLiveEntity(records, record);

  function update(record: number, name: string, state: EntityState): void {
    if (state === "DELETED") names.clear(record);
    else names.set(record, name);
    setState(record, state);
  }

  function setState(record: number, state: EntityState): void {
    setField(records, record, stateField, states.indexOf(state) + 1);
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
        const [known, name, state] = [found[row] as number, theirNames[row] as string, theirStates[row] as EntityState];
        if (known !== 0) {
          update(known, name, state);
          continue;
        }
        const record = records.add();
        added.records.push(record);
        added.rows.push(row);
        setState(record, state);
        if (state === "DELETED") continue;
        named.records.push(record);
        named.names.push(name);
      }
      ids.addAll(added.records, theirIds, added.rows);
      names.addAll(named.records, named.names);
    },

    retire(record) {
      ids.remove(record);
      names.clear(record);
      setField(records, record, stateField, gone);
    },

    release: (record) => records.remove(record),
    isLive,
    isActive: (record) => getField(records, record, stateField) === active,
    stateOf: (record) => states[getField(records, record, stateField) - 1],
    idOf: ids.idOf,
    nameOf: names.nameOf,
    compare: ids.compare,
    comesAfter: ids.comesAfter,

    reserve(total) {
      ids.reserve(total);
      names.reserve(total);
    },

    bytes: () => records.bytes() + ids.bytes() + names.bytes(),
  };
}
