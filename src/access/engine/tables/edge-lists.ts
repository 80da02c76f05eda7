import { createIntRecords, getField, setField } from "./int-records.ts";
import { type Field, createLinkedLists } from "./linked-lists.ts";
import type { StoredPart } from "./stored-part.ts";
import { getTime, setTime, timeWidth } from "./time-field.ts";

// The fields that decisions read come first, so that they are read together.
const targetField = 0;
const expireField = 1;
const outgoingLinks = expireField + timeWidth;
const incomingLinks = outgoingLinks + 2;
const sourceField = incomingLinks + 2;
const width = sourceField + 1;

/**
 * Edges from members or groups to the groups that contain them, each with an expire time. Edges can be walked in both
 * directions.
 */
export interface EdgeLists {
  /** Adds the edge, or changes the expire time of an existing one. `expireTime` is in milliseconds. */
  readonly put: (source: number, target: number, expireTime: number) => void;
  readonly removeBetween: (source: number, target: number) => void;
  readonly remove: (edge: number) => void;
  /** Writes the targets of the source's unexpired edges into the list and returns their number. */
  readonly targetsAt: (source: number, now: number, targets: number[]) => number;
  readonly firstFrom: (source: number) => number;
  readonly nextFrom: (edge: number) => number;
  readonly firstTo: (target: number) => number;
  readonly nextTo: (edge: number) => number;
  readonly sourceOf: (edge: number) => number;
  /** Returns the target of an edge. */
  readonly groupOf: (edge: number) => number;
  /** Returns the expire time of an edge, in milliseconds. */
  readonly expireTimeOf: (edge: number) => number;
  readonly holdsAt: (edge: number, now: number) => boolean;
  readonly bytes: () => number;
  readonly parts: () => readonly StoredPart[];
}

/**
 * @param fromSource the field in which sources keep their first edge.
 * @param toTarget the field in which targets keep theirs.
 */
export function createEdgeLists(fromSource: Field, toTarget: Field): EdgeLists {
  const edges = createIntRecords(width);
  const outgoing = createLinkedLists(fromSource, { records: edges, field: outgoingLinks });
  const incoming = createLinkedLists(toTarget, { records: edges, field: incomingLinks });

  /** Walks the lists of both ends in parallel, so that the search is as fast as on the shorter one. */
  function find(source: number, target: number): number {
    let out = outgoing.first(source);
    let into = incoming.first(target);
    while (out !== 0 && into !== 0) {
      if (getField(edges, out, targetField) === target) return out;
      if (getField(edges, into, sourceField) === source) return into;
      out = outgoing.next(out);
      into = incoming.next(into);
    }
    return 0;
  }

  function remove(edge: number): void {
    outgoing.remove(getField(edges, edge, sourceField), edge);
    incoming.remove(getField(edges, edge, targetField), edge);
    edges.remove(edge);
  }

  return {
    put(source, target, expireTime) {
      let edge = find(source, target);
      if (edge === 0) {
        edge = edges.add();
        setField(edges, edge, sourceField, source);
        setField(edges, edge, targetField, target);
        outgoing.add(source, edge);
        incoming.add(target, edge);
      }
      setTime(edges, edge, expireField, expireTime);
    },

    removeBetween(source, target) {
      const edge = find(source, target);
      if (edge !== 0) remove(edge);
    },

    remove,

    // The loop of every decision. It calls only functions that are inlined.
    targetsAt(source, now, targets) {
      let count = 0;
      let edge = getField(fromSource.records, source, fromSource.field);
      while (edge !== 0) {
        if (now < getTime(edges, edge, expireField)) targets[count++] = getField(edges, edge, targetField);
        edge = getField(edges, edge, outgoingLinks);
      }
      return count;
    },

    firstFrom: outgoing.first,
    nextFrom: outgoing.next,
    firstTo: incoming.first,
    nextTo: incoming.next,
    sourceOf: (edge) => getField(edges, edge, sourceField),
    groupOf: (edge) => getField(edges, edge, targetField),
    expireTimeOf: (edge) => getTime(edges, edge, expireField),
    holdsAt: (edge, now) => now < getTime(edges, edge, expireField),
    bytes: () => edges.bytes(),
    parts: edges.parts,
  };
}
