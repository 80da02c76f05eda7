/** A statement that a file of tests sent. */
export interface RecordedStatement {
  /** As `identityOf` returns it. */
  readonly identity: string;
  /** Its normalised text. */
  readonly text: string;
}

/** What a file of tests sent. */
export interface FileRecord {
  readonly file: string;
  readonly statements: readonly RecordedStatement[];
}

/** Statements that need not be sent to another server. */
export interface Exception {
  /** How their identities begin. */
  readonly start: string;
  readonly reason: string;
}

/** A statement that only one run sent. */
interface MissingStatement {
  readonly identity: string;
  readonly excerpt: string;
  /** The files that sent it. */
  readonly files: readonly string[];
}

export interface Comparison {
  readonly missing: readonly MissingStatement[];
  /** Exceptions for which the first run sent no statement. Whether the second sends it can depend on what its jobs find in time. */
  readonly unused: readonly Exception[];
}

/**
 * Compares what two runs sent. A statement is missing if the second run sent neither one with its identity nor, from another place, one
 * with its text.
 */
export function compareStatements(
  first: readonly FileRecord[],
  second: readonly FileRecord[],
  exceptions: readonly Exception[],
): Comparison {
  const sent = second.flatMap(({ statements }) => statements);
  const identities = new Set(sent.map(({ identity }) => identity));
  const texts = new Set(sent.map(({ text }) => text));
  const ofFirst = first.flatMap(({ file, statements }) => statements.map((statement) => ({ ...statement, file })));
  const onlyFirst = [...Map.groupBy(ofFirst, ({ identity }) => identity)]
    .filter(([identity, all]) => !identities.has(identity) && !all.some(({ text }) => texts.has(text)))
    .map(([identity, all]) => ({
      identity,
      excerpt: all[0]?.text.slice(0, 200) ?? "",
      files: [...new Set(all.map(({ file }) => file))].toSorted(),
    }))
    .toSorted((one, other) => (one.identity < other.identity ? -1 : 1));
  const covers = ({ start }: Exception, { identity }: RecordedStatement | MissingStatement): boolean =>
    identity.startsWith(start);
  return {
    missing: onlyFirst.filter((statement) => !exceptions.some((exception) => covers(exception, statement))),
    unused: exceptions.filter((exception) => !ofFirst.some((statement) => covers(exception, statement))),
  };
}
