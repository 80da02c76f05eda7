import { boundedList } from "./bounded-list.ts";
import type { DescribedOrganisation } from "../plan/describe-organisation.ts";
import type { PreparedImport } from "../plan/prepare-import.ts";
import { count, plural } from "../plural.ts";
import { printable } from "../printable.ts";
import { reportDifferences } from "./report-differences.ts";
import type { Outcome, Tally } from "../run-import.ts";

export interface ReportOptions {
  readonly url: string;
  readonly dryRun: boolean;
  /** Whether --strict kept the import from changing anything. */
  readonly isRefused: boolean;
  /** Whether to list everything, however long. */
  readonly verbose: boolean;
  readonly elapsedMs: number;
}

/** Returns a report of what an import did, of the differences that it left, and of peculiarities of the file. */
export function reportImport(prepared: PreparedImport, outcome: Outcome, options: ReportOptions): string {
  const { organisation, differences } = prepared;
  const isPlan = options.dryRun || options.isRefused;
  const done = [
    [heading(organisation.org, outcome, isAsFileSays(prepared), options)],
    counts(outcome.tallies, isPlan),
    ...reportDifferences(differences, options.verbose),
  ];
  const aboutFile = [
    renamed(organisation, options.verbose),
    skipped(organisation, options.verbose),
    remarks(organisation),
  ];
  // If the import ended early, the reason follows. Remarks about the file are left for the report of the complete import.
  const sections = outcome.end === undefined ? [...done, ...aboutFile] : done;
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => `${line}\n`).join(""))
    .join("\n");
}

/** Whether an import leaves an org that is exactly as its file says. */
export function isAsFileSays({ organisation, differences }: PreparedImport): boolean {
  return differences.length === 0 && organisation.skipped.length === 0;
}

function heading(
  org: string,
  { tallies, end }: Outcome,
  isAsFile: boolean,
  { url, dryRun, isRefused, elapsedMs }: ReportOptions,
): string {
  const time = `${(elapsedMs / 1_000).toFixed(1)} s`;
  if (end !== undefined) return `Imported part of ${org} into ${url} in ${time}:`;
  if (isNothingToDo(tallies)) {
    return isAsFile
      ? `Nothing to do: ${org} is as the file says.`
      : `Nothing to create, but ${org} is not as the file says.`;
  }
  if (isRefused)
    return `Nothing was changed, as --strict says: ${org} would not be as the file says. Without it, an import would do this:`;
  if (dryRun) return `Dry run: nothing was changed. An import of ${org} into ${url} would do this:`;
  return `Imported ${org} into ${url} in ${time}:`;
}

const isNothingToDo = (tallies: Outcome["tallies"]): boolean =>
  tallies.every(({ created, missing }) => created + missing === 0);

function counts(tallies: Outcome["tallies"], isPlan: boolean): string[] {
  if (isNothingToDo(tallies)) return [`  ${tallies.map(({ kind, existing }) => count(existing, kind)).join(", ")}`];
  const isPart = tallies.some(({ missing }) => missing > 0);
  const columns: { title: string; of: (tally: Readonly<Tally>) => number }[] = [];
  if (!isPlan) columns.push({ title: "created", of: ({ created }) => created });
  columns.push({ title: "already there", of: ({ existing }) => existing });
  if (isPart) columns.push({ title: isPlan ? "to create" : "missing", of: ({ missing }) => missing });
  const row = (label: string, cells: (string | number)[]): string =>
    `  ${label.padEnd(14)}${cells.map((cell) => String(cell).padStart(15)).join("")}`;
  return [
    row(
      "",
      columns.map(({ title }) => title),
    ),
    ...tallies.map((tally) =>
      row(
        plural(tally.kind),
        columns.map(({ of }) => of(tally)),
      ),
    ),
  ];
}

function renamed({ renamed: all }: DescribedOrganisation, verbose: boolean): string[] {
  const lines = all.map(({ kind, original, name, isLost }) => {
    const lost = isLost ? " (the original is not a valid display name either, and is dropped)" : "";
    return `${kind.padEnd(8)} ${printable(original)} → ${name}${lost}`;
  });
  return boundedList(
    `${count(all.length, "name")} had to change: names are lowercase letters, digits and dashes. The original stays as the display name, unless the file gives one:`,
    lines,
    verbose,
  );
}

function skipped({ skipped: all }: DescribedOrganisation, verbose: boolean): string[] {
  const lines = all.map(({ group, member }) => `${printable(member)} in ${printable(group)}`);
  return boundedList(
    `${count(all.length, "membership")} skipped, because the member is in neither members nor admins:`,
    lines,
    verbose,
  );
}

function remarks({ repeated }: DescribedOrganisation): string[] {
  return repeated > 0 ? [`${count(repeated, "entry")} repeated another one and counted once.`] : [];
}
