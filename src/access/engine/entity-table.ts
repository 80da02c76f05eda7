import { createIdTable, idWidth } from "./id-table.ts";
import { type IntRecords, createIntRecords, getField, setField } from "./int-records.ts";
import { createNameTable, nameWidth } from "./name-table.ts";

const stateField = idWidth + nameWidth;

/** The fields from here on are the owner's. */
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

/** Members, groups, projects or roles: what has an id and a name. */
export interface EntityTable {
  readonly records: IntRecords;
  /** 0 when there is none; by id a deleted one is found too. */
  readonly find: (reference: EntityReference) => number;
  readonly findById: (id: string) => number;
  /** Adds the entity, or makes the one with this id what the arguments say. */
  readonly put: (id: string, name: string, state: EntityState) => number;
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
  readonly bytes: () => number;
}

/** The same as a table's `isLive`, to be inlined. */
export function isLiveEntity(records: IntRecords, record: number): boolean {
  const state = getField(records, record, stateField);
  return state !== 0 && state < deleted;
}

/** @param ownWidth how many fields the owner wants from `entityWidth` on. */
export function createEntityTable(ownWidth: number): EntityTable {
  const records = createIntRecords(entityWidth + ownWidth);
  const ids = createIdTable(records);
  const names = createNameTable(records, idWidth);

  const isLive = (record: number): boolean => isLiveEntity(records, record);

  return {
    records,
    find: ({ by, value }) => (by === "id" ? ids.find(value) : names.find(value)),
    findById: (id) => ids.find(id),

    put(id, name, state) {
      let record = ids.find(id);
      if (record === 0) {
        record = records.add();
        ids.add(record, id);
      }
      if (state === "DELETED") names.clear(record);
      else names.set(record, name);
      setField(records, record, stateField, states.indexOf(state) + 1);
      return record;
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
    bytes: () => records.bytes() + ids.bytes() + names.bytes(),
  };
}
