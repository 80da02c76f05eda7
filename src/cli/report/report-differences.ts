import { boundedList } from "./bounded-list.ts";
import { kinds } from "../plan/creation.ts";
import type { Difference } from "../plan/find-differences.ts";
import { count, plural } from "../plural.ts";

/** Returns sections of lines: a summary, and a bounded list for each kind of difference. */
export function reportDifferences(differences: readonly Difference[], verbose: boolean): string[][] {
  if (differences.length === 0) return [];
  const byKind = Map.groupBy(differences, ({ kind }) => kind);
  const lists = kinds.flatMap((kind) => {
    const ofKind = byKind.get(kind) ?? [];
    const extra = ofKind.flatMap(({ label, fields }) => (fields.length === 0 ? [label] : []));
    const changed = ofKind.flatMap(({ label, fields }) =>
      fields.length > 0 ? [`${label}: ${fields.join("; ")}`] : [],
    );
    return [
      boundedList(`${plural(kind)} that are not in the file: ${extra.length}`, extra.toSorted(), verbose),
      boundedList(`${plural(kind)} with other values than in the file: ${changed.length}`, changed.toSorted(), verbose),
    ];
  });
  const stay = differences.length === 1 ? "stays" : "stay";
  return [
    [
      `${count(differences.length, "difference")} from the file ${stay}: an import creates what is missing; it changes and deletes nothing.`,
    ],
    ...lists,
  ];
}
