import { type StoredPart, createRowsPart } from "./stored-part.ts";

/** The labels of the org and its projects, for conditions that read them. */
export interface LabelTable {
  readonly put: (id: string, labels: Labels | undefined) => void;
  readonly remove: (id: string) => void;
  /** Returns an empty object if there are none. */
  readonly of: (id: string) => Labels;
  readonly bytes: () => number;
  readonly parts: () => readonly StoredPart[];
}

export type Labels = Readonly<Record<string, string>>;

/** The approximate memory of an entry, without its texts. */
const bytesOfEntry = 200;

const none: Labels = {};

export function createLabelTable(): LabelTable {
  const byId = new Map<string, { readonly labels: Labels; readonly bytes: number }>();
  let bytes = 0;

  const remove = (id: string): void => {
    bytes -= byId.get(id)?.bytes ?? 0;
    byId.delete(id);
  };

  return {
    remove,

    put(id, labels = none) {
      remove(id);
      if (Object.keys(labels).length === 0) return;
      const entry = { labels, bytes: bytesOfEntry + JSON.stringify(labels).length * 2 };
      byId.set(id, entry);
      bytes += entry.bytes;
    },

    of: (id) => byId.get(id)?.labels ?? none,
    bytes: () => bytes,

    parts: () =>
      createRowsPart(
        "labels",
        () => byId,
        ([id, entry]) => {
          byId.set(id, entry);
          bytes += entry.bytes;
        },
      ),
  };
}
