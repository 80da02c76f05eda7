// What a distributed table does not keep while it moves. A statement that locks the row of an org reads it and does not lock it; a
// transaction with one snapshot sees what was committed before each of its statements.
import pg from "pg";

interface Submitted {
  text: string;
  name?: string | undefined;
  readonly values?: readonly unknown[];
  callback?: (...outcome: unknown[]) => void;
}

interface LostLocks {
  /** Returns the number of locks that were asked for, and of those that were lost. */
  readonly counts: () => { readonly asked: number; readonly lost: number };
  readonly end: () => void;
}

/**
 * Lets the next locks of an org that servers in this process ask for not hold.
 *
 * @param org its name or id, as the servers name it.
 * @param times the number of locks that are lost.
 * @param meanwhile runs between the read of the row and what is done under the lock. Its own locks hold.
 */
export function loseLocks(org: string, times: number, meanwhile: () => Promise<unknown>): LostLocks {
  let [asked, lost] = [0, 0];
  let isMeanwhile = false;
  const lose = (statement: Submitted): void => {
    lost++;
    rewrite(statement, lockClause, "");
    delay(statement, async () => {
      isMeanwhile = true;
      await meanwhile().finally(() => (isMeanwhile = false));
    });
  };
  const end = watchStatements((statement) => {
    if (!isLockOf(org, statement) || isMeanwhile) return;
    asked++;
    if (lost < times) lose(statement);
  });
  return { counts: () => ({ asked, lost }), end };
}

const lockClause = "for no key update";

function isLockOf(org: string, { text, values }: Submitted): boolean {
  return text.includes(lockClause) && text.includes('from "orgs"') && values?.includes(org) === true;
}

/**
 * Lets the next transaction of this process that reads with one snapshot lose it after its first statement.
 *
 * @param meanwhile runs before its second statement.
 */
export function loseSnapshot(meanwhile: () => Promise<unknown>): { readonly end: () => void } {
  let step: "begin" | "first" | "done" = "begin";
  const end = watchStatements((statement) => {
    if (step === "first") {
      step = "done";
      delay(statement, meanwhile);
    } else if (step === "begin" && statement.text.includes(snapshotClause)) {
      step = "first";
      rewrite(statement, snapshotClause, "");
    }
  });
  return { end };
}

const snapshotClause = "isolation level repeatable read";

/** Changes statements before they are sent, until the returned function is called. */
function watchStatements(change: (statement: Submitted) => void): () => void {
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function changed(this: pg.Client, ...parameters: readonly unknown[]): unknown {
    const [statement] = parameters as readonly Submitted[];
    // The statements of the service; those of tests have no callback.
    if (typeof statement === "object" && statement.callback !== undefined) change(statement);
    return Reflect.apply(query, this, parameters);
  } as typeof query;
  return () => void (pg.Client.prototype.query = query);
}

/** Under its name, the statement is prepared as it was. */
function rewrite(statement: Submitted, old: string, replacement: string): void {
  Object.assign(statement, { text: statement.text.replace(old, replacement), name: undefined });
}

/** Delays the result of a statement. */
function delay(statement: Submitted, until: () => Promise<unknown>): void {
  const { callback } = statement;
  statement.callback = (...outcome) => void until().finally(() => callback?.(...outcome));
}
