/** How many pieces are kept before they are made one: a Buffer costs some hundred bytes, however little it holds. */
const mostLoose = 1024;

/** Bytes that come in pieces of any size. */
export interface Pieces {
  add(piece: Buffer): void;
  /** All of them in one, and forgets them. */
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
