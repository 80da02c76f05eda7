import { type StoredPart, createNumbersPart, createRowsPart } from "./stored-part.ts";

/** What ends the tokens of an org's members before they expire. */
export interface TokenTable {
  /** Returns the value that the tokens of a member must carry; null if nothing has ended them all yet. */
  readonly genOf: (memberId: string) => string | null;
  readonly putGen: (memberId: string, gen: string | null) => void;
  /** Reports whether any member has such a value. */
  readonly hasGens: () => boolean;
  /**
   * Ends the tokens of an API key, client or session, or a single token; with `Rotation`, only when the time has come.
   *
   * @param time in milliseconds. What ended longer ago than a token can live is forgotten.
   */
  readonly end: (id: string, type: TokenEnd, time: number) => void;
  /** Returns what ended the tokens with this id at the latest at a time; undefined if nothing has. */
  readonly endOf: (id: string, now: number) => TokenEnd | undefined;
  /** Returns when a rotation ends the tokens of an API key, in milliseconds; Infinity if none does. */
  readonly rotationEndOf: (id: string) => number;
  readonly bytes: () => number;
  readonly parts: () => readonly StoredPart[];
}

/** What ended tokens: the removal or rotation of their API key, the removal of their client, the end of their session, or the revocation of a single token. */
export type TokenEnd = "ApiKey" | "Session" | "Token" | "Rotation" | "Client";

/** Longer than any token lives, in milliseconds: 12 hours, and a margin for clocks that were set back. */
export const rememberedMs = 13 * 3_600_000;

/** The approximate memory of a map entry with its texts. */
const bytesOfEntry = 200;

export function createTokenTable(): TokenTable {
  const gens = new Map<string, string>();
  const ended = new Map<string, { readonly type: TokenEnd; readonly time: number }>();
  /** When tokens end because of a rotation, in milliseconds. */
  const rotated = new Map<string, number>();
  let latest = 0;

  /** Entries are nearly in the order of their times, because they come from the change log. */
  function forgetOld(): void {
    for (const [id, { time }] of ended) {
      if (time >= latest - rememberedMs) return;
      ended.delete(id);
    }
  }

  function forgetOldRotations(): void {
    for (const [id, time] of rotated) if (time < latest - rememberedMs) rotated.delete(id);
  }

  return {
    genOf: (memberId) => gens.get(memberId) ?? null,

    putGen(memberId, gen) {
      if (gen === null) gens.delete(memberId);
      else gens.set(memberId, gen);
    },

    hasGens: () => gens.size > 0,

    end(id, type, time) {
      if (type === "Rotation") {
        forgetOldRotations();
        rotated.set(id, time);
        return;
      }
      latest = Math.max(latest, time);
      ended.set(id, { type, time });
      forgetOld();
    },

    endOf(id, now) {
      const type = ended.get(id)?.type;
      if (type !== undefined || rotated.size === 0) return type;
      return (rotated.get(id) ?? Infinity) <= now ? "Rotation" : undefined;
    },

    rotationEndOf: (id) => rotated.get(id) ?? Infinity,

    bytes: () => (gens.size + ended.size + rotated.size) * bytesOfEntry,

    parts: () => [
      ...createRowsPart(
        "token generations",
        () => gens,
        ([memberId, gen]) => gens.set(memberId, gen),
      ),
      ...createRowsPart(
        "ended tokens",
        () => ended,
        ([id, end]) => ended.set(id, end),
      ),
      ...createNumbersPart(
        "the latest end",
        () => [latest] as const,
        (numbers) => ([latest] = numbers),
      ),
      ...createRowsPart(
        "rotations",
        () => rotated,
        ([id, time]) => rotated.set(id, time),
      ),
    ],
  };
}
