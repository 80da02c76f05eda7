// Most of the time of a short statement is the way to the server and back. So a transaction can send a statement together with the next
// one, which may be its COMMIT.
import type { CompiledQuery, DatabaseConnection, Kysely, Transaction } from "kysely";
import type { Committed, Commits } from "./commits.ts";
import type { Schema } from "./schema.ts";

/**
 * What a held statement does: one that is declared to write nothing, though it may lock, is sent together with the beginning of the
 * transaction. Any other waits for the beginning: see `pool-dialect.ts`.
 */
export type HeldKind = "reads" | "may write";

/** A connection that can hold a statement until the next one is sent. */
export interface HoldingConnection extends DatabaseConnection {
  readonly hold: (statement: CompiledQuery, kind: HeldKind) => Later<readonly object[]>;
  /** Sends what is held, if there is anything. */
  readonly sendHeld: () => Promise<void>;
  /** Has the transaction rolled back where it would be committed. What is held is sent before, and may fail it. */
  readonly rollBackAtEnd: () => void;
}

/**
 * Returns what a statement that is sent with the next one has read.
 *
 * @throws Error before that one has run; that of the statement if it has failed, or if the transaction was rolled back.
 */
export type Later<Value> = () => Value;

/** How a transaction ends that does not fail. One that is rolled back has only tried what it would write. */
export type End = "commit" | "rollback";

export interface WriteTransaction extends Transaction<Schema> {
  /** Sends a statement together with the next one, or with the end of the transaction. If it fails, so does the next one, with its error. */
  readonly sendWithNext: <Row>(statement: CompiledQuery<Row>) => Later<readonly Row[]>;
  /** The same for a statement that only reads, locks or sets: in a transaction that has not begun, it goes together with the beginning. */
  readonly readWithNext: <Row>(statement: CompiledQuery<Row>) => Later<readonly Row[]>;
  /** Sends, together, what was to be sent with the next statement, if there is anything. Rejects with the error of the first that fails. */
  readonly sendHeld: () => Promise<void>;
  /** Whether it has locked an org, after which it locks no customer (`src/changes/write-locks.ts`). */
  hasLockedOrg: boolean;
  /** The ids of customers that it locked, in one order, before the orgs of the first of them. */
  readonly lockedCustomerIds: Set<string>;
  /** Notes what is told to the subscribers of commits if the transaction is committed. */
  readonly noteWritten: (written: Committed) => void;
}

/** Runs a transaction, commits it, and tells what it has written. If `run` rejects, it is rolled back. By default, it is committed. */
export async function transact<Result>(
  { writes, commits }: { readonly writes: Kysely<Schema>; readonly commits: Pick<Commits, "tell"> },
  run: (db: WriteTransaction) => Promise<Result>,
  end: End = "commit",
): Promise<Result> {
  const written: Committed[] = [];
  const result = await writes.transaction().execute(async (db) => {
    const { hold, sendHeld, rollBackAtEnd } = await db
      .getExecutor()
      .provideConnection(async (own) => own as HoldingConnection);
    if (end === "rollback") rollBackAtEnd();
    const holdAs = (kind: HeldKind) => ((statement) => hold(statement, kind)) as WriteTransaction["sendWithNext"];
    const noteWritten = (each: Committed): void => void written.push(each);
    return run(
      Object.assign(db, {
        sendWithNext: holdAs("may write"),
        readWithNext: holdAs("reads"),
        sendHeld,
        hasLockedOrg: false,
        lockedCustomerIds: new Set<string>(),
        noteWritten,
      }),
    );
  });
  if (end === "commit") commits.tell(written);
  return result;
}
