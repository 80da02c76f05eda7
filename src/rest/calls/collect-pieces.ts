import { freeMemory } from "./free-memory.ts";

/** Smaller pieces are copied together. A Buffer has an overhead of some hundred bytes, so single bytes would take many times their size. */
const smallBytes = 1024;

/** How many bytes of small pieces are copied together. */
const togetherBytes = 4096;

/** Collects bytes that arrive in pieces of any size. */
export interface Pieces {
  /** Adds a piece, whose memory is freed when it is joined with others. */
  add(piece: Buffer): void;
  /** Returns all pieces as one Buffer and clears the collection. */
  take(): Buffer;
}

export function collectPieces(): Pieces {
  let pieces: Buffer[] = [];
  let together: Buffer | undefined;
  let used = 0;

  const endTogether = (): void => {
    const filled = together?.subarray(0, used);
    // Large and small pieces may take turns.
    if (filled !== undefined) pieces.push(used < togetherBytes / 2 ? Buffer.from(filled) : filled);
    together = undefined;
    used = 0;
  };

  return {
    add(piece) {
      const isOnlyOne = pieces.length === 0 && together === undefined;
      if (piece.length === 0) return;
      if (isOnlyOne || piece.length >= smallBytes) {
        endTogether();
        pieces.push(piece);
        return;
      }
      if (used + piece.length > togetherBytes) endTogether();
      together ??= Buffer.allocUnsafe(togetherBytes);
      piece.copy(together, used);
      used += piece.length;
    },
    take() {
      endTogether();
      const [first] = pieces;
      const all = first !== undefined && pieces.length === 1 ? first : join(pieces);
      pieces = [];
      return all;
    },
  };
}

function join(pieces: readonly Buffer[]): Buffer {
  const joined = Buffer.concat(pieces);
  for (const piece of pieces) freeMemory(piece);
  return joined;
}
