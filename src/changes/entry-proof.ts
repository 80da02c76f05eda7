// What shows that an entry is the one that was written: its record, its hash and, of each field that a reader sees, the text and the key
// with which the record is committed to it. docs/decisions/0084 has the format.
import { type RawBuilder, sql } from "kysely";
import { timeText } from "../database/clock.ts";
import type { ErasedFields } from "../database/log-tables.ts";
import {
  type CommittedField,
  type OfFields,
  type Recorded,
  commit,
  committedFields,
  committedTexts,
  fieldKey,
  recordOf,
} from "./entry-record.ts";

export interface Proof {
  /** The record, as canonical JSON. */
  readonly record: string;
  /** The hash over the record and the hash of the entry before, in hexadecimal digits. */
  readonly hash: string;
  /** Of the fields that are shown. */
  readonly texts: Readonly<Partial<Record<CommittedField, string>>>;
  readonly keys: Readonly<Partial<Record<CommittedField, string>>>;
}

/** An entry as it is stored, with its time as text. */
export type StoredEntry = Omit<Recorded, "time"> &
  Parameters<typeof committedTexts>[0] & {
    readonly time_text: string;
    readonly hash: Buffer | null;
    readonly salt: Buffer | null;
    readonly erased: ErasedFields | null;
  };

/** The time of an entry, as its record has it. */
export const entryTime: RawBuilder<string> = timeText(sql`changes.time`);

/** Returns the proof of an entry; undefined for one of an earlier format, which has none. @param shows whether it shows a field. */
export function proofOf(entry: StoredEntry, shows: (field: CommittedField) => boolean = () => true): Proof | undefined {
  const { hash, chain_start: start, erased } = entry;
  if (hash === null || start === null) return undefined;
  const salt = entry.salt?.toString("hex");
  const texts = committedTexts(entry);
  const shown: Record<"texts" | "keys", Partial<Record<CommittedField, string>>> = { texts: {}, keys: {} };
  const commitments: Partial<Record<CommittedField, string | null>> = {};
  for (const field of committedFields) {
    const text = texts[field];
    const key = salt === undefined ? erased?.keys[field] : fieldKey(salt, field);
    const isErased = erased !== null && Object.hasOwn(erased.commitments, field);
    commitments[field] = commitmentTo(text, key, erased?.commitments[field]);
    if (isErased || text === null || key === undefined || !shows(field)) continue;
    shown.texts[field] = text;
    shown.keys[field] = key;
  }
  const record = recordOf({ ...entry, time: entry.time_text }, commitments as OfFields<string>);
  return { record, hash: hash.toString("hex"), ...shown };
}

function commitmentTo(text: string | null, key: string | undefined, ofErased: string | undefined): string | null {
  if (ofErased !== undefined) return ofErased;
  return text === null || key === undefined ? null : commit(key, text);
}
