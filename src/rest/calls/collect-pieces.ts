/** How many pieces are kept before they are joined. A Buffer has an overhead of some hundred bytes. */
const mostLoose = 1024;

/** Collects bytes that arrive in pieces of any size. */
export interface Pieces {
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
      joined.push(Buffer.concat(loose));
      loose = [];
    },
    take() {
      const all = [...joined, ...loose];
      joined = [];
      loose = [];
      const [first] = all;
      return first !== undefined && all.length === 1 ? first : Buffer.concat(all);
    },
  };
}
