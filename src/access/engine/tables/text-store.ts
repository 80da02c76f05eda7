import type { StoredPart } from "./stored-part.ts";

/** Stores texts as UTF-16 in chunks, which the garbage collector does not visit. */
export interface TextStore {
  /** Stores a text of at most 2048 characters and returns its start. */
  readonly add: (text: string) => number;
  /** Frees the place of the text for reuse. */
  readonly remove: (start: number, length: number) => void;
  readonly read: (start: number, length: number) => string;
  readonly equals: (start: number, length: number, text: string) => boolean;
  /** Returns the same hash as `hashText` does for the text. */
  readonly hash: (start: number, length: number) => number;
  readonly bytes: () => number;
  readonly parts: () => readonly StoredPart[];
}

const chunkBits = 15;
const chunkLength = 1 << chunkBits;
const firstLength = 64;
const longest = 2048;

/** FNV-1a, over the code units. */
const hashStart = 0x811c9dc5;
const hashFactor = 0x01000193;

export function hashText(text: string): number {
  let hash = hashStart;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), hashFactor);
  return mix(hash);
}

export function createTextStore(): TextStore {
  // As with records, the first chunk starts small.
  const chunks: Uint16Array[] = [new Uint16Array(firstLength)];
  let next = 0;
  /** The starts of removed texts, by the room that they took. Names are short, so that the room is soon reused. */
  const free: number[][] = [];
  /** As for records. */
  let shared: Set<Uint16Array> | undefined;

  function allocate(length: number): number {
    const room = roomFor(length);
    const reused = free[room]?.pop();
    if (reused !== undefined) return reused;
    // A text is not split across chunks.
    if ((next & (chunkLength - 1)) + room > chunkLength) next = ((next >>> chunkBits) + 1) << chunkBits;
    const start = next;
    next += room;
    grow();
    return start;
  }

  function grow(): void {
    const last = (next - 1) >>> chunkBits;
    if (last >= chunks.length) {
      growFirst(chunkLength);
      chunks.push(new Uint16Array(chunkLength));
    } else if (last === 0) {
      growFirst(next);
    }
  }

  function growFirst(needed: number): void {
    const first = chunks[0] as Uint16Array;
    if (first.length >= needed) return;
    const larger = new Uint16Array(Math.max(first.length * 2, 2 ** Math.ceil(Math.log2(needed))));
    larger.set(first);
    chunks[0] = larger;
  }

  const chunkAt = (start: number): Uint16Array => chunks[start >>> chunkBits] as Uint16Array;

  /** Returns the chunk, to be changed: a copy of it if it is shared. */
  function ownChunkAt(start: number): Uint16Array {
    const chunk = chunkAt(start);
    if (shared?.has(chunk) !== true) return chunk;
    const own = chunk.slice();
    chunks[start >>> chunkBits] = own;
    return own;
  }

  return {
    add(text) {
      if (text.length > longest) throw new Error(`a text of ${text.length} characters is too long to be stored`);
      if (text.length === 0) return 0;
      const start = allocate(text.length);
      const chunk = ownChunkAt(start);
      const first = start & (chunkLength - 1);
      for (let at = 0; at < text.length; at++) chunk[first + at] = text.charCodeAt(at);
      return start;
    },

    remove(start, length) {
      if (length > 0) (free[roomFor(length)] ??= []).push(start);
    },

    read(start, length) {
      const first = start & (chunkLength - 1);
      return String.fromCharCode(...chunkAt(start).subarray(first, first + length));
    },

    equals(start, length, text) {
      if (length !== text.length) return false;
      const chunk = chunkAt(start);
      const first = start & (chunkLength - 1);
      for (let at = 0; at < length; at++) if (chunk[first + at] !== text.charCodeAt(at)) return false;
      return true;
    },

    hash(start, length) {
      const chunk = chunkAt(start);
      const first = start & (chunkLength - 1);
      let hash = hashStart;
      for (let at = first; at < first + length; at++) hash = Math.imul(hash ^ (chunk[at] as number), hashFactor);
      return mix(hash);
    },

    bytes: () => chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0),

    parts: () => [
      {
        kind: "arrays",
        layout: `texts, ${chunkLength} a chunk`,

        share() {
          if (shared !== undefined) throw new Error("the texts are shared already");
          shared = new Set(chunks);
          const release = (): void => {
            shared = undefined;
          };
          return { numbers: [next], arrays: [packFree(free), ...chunks], release };
        },

        adopt({ numbers, arrays }) {
          const [starts, ...texts] = arrays as [Int32Array, ...Uint16Array[]];
          [next] = numbers as [number];
          unpackFree(starts, free);
          chunks.splice(0, Infinity, ...texts);
        },
      },
    ],
  };
}

/** Returns the room that a text takes. Texts of about the same length take the same room, so that one can replace another. */
function roomFor(length: number): number {
  return (length + 3) & ~3;
}

/** Mixes the bits, because the low bits of FNV alone are weak. */
function mix(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return mixed ^ (mixed >>> 13);
}

function packFree(free: readonly (readonly number[] | undefined)[]): Int32Array {
  const packed: number[] = [];
  for (const [room, starts] of free.entries()) {
    if (starts === undefined) continue;
    packed.push(room, starts.length);
    for (const start of starts) packed.push(start);
  }
  return Int32Array.from(packed);
}

function unpackFree(packed: Int32Array, free: number[][]): void {
  free.length = 0;
  for (let at = 0; at < packed.length;) {
    const [room, count] = [packed[at] as number, packed[at + 1] as number];
    const first = at + 2;
    free[room] = Array.from(packed.subarray(first, first + count));
    at = first + count;
  }
}
