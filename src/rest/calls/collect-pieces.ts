import { freeMemory } from "./free-memory.ts";

/** How many pieces are kept before they are joined. A Buffer has an overhead of some hundred bytes. */
const mostLoose = 1024;

/** Collects bytes that arrive in pieces of any size. */
export interface Pieces {
  /** Adds a piece, whose memory is freed when it is joined with others. */
  add(piece: Buffer): void;
  /** Returns all pieces as one Buffer and clears the collection. */
  take(): Buffer;
}

export function collectPieces(): Pieces {
  let joined: Buffer[] = [];
  let loose: Buffer[] = [];
  return {
    add(piece) {
      if (piece.length > 0) loose.push(piece);
      if (loose.length < mostLoose) return;
      joined.push(join(loose));
      loose = [];
    },
    take() {
      const all = [...joined, ...loose];
      joined = [];
      loose = [];
      const [first] = all;
      return first !== undefined && all.length === 1 ? first : join(all);
    },
  };
}

function join(pieces: readonly Buffer[]): Buffer {
  const joined = Buffer.concat(pieces);
  for (const piece of pieces) freeMemory(piece);
  return joined;
}
