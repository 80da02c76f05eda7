// Locks of orgs that do not hold, as while a distributed table moves: the statement that takes the lock reads the row and does not lock it.
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
  const { query } = pg.Client.prototype;
  const lose = (statement: Submitted): void => {
    const { callback } = statement;
    lost++;
    // Under its name the statement with the lock is prepared.
    Object.assign(statement, { text: statement.text.replace(lockClause, ""), name: undefined });
    statement.callback = (...outcome) => {
      isMeanwhile = true;
      void meanwhile().finally(() => {
        isMeanwhile = false;
        callback?.(...outcome);
      });
    };
  };
  pg.Client.prototype.query = function loseLock(this: pg.Client, ...parameters: readonly unknown[]): unknown {
    const [statement] = parameters as readonly Submitted[];
    if (typeof statement === "object" && isLockOf(org, statement) && !isMeanwhile) {
      asked++;
      if (lost < times) lose(statement);
    }
    return Reflect.apply(query, this, parameters);
  } as typeof query;
  return { counts: () => ({ asked, lost }), end: () => void (pg.Client.prototype.query = query) };
}

const lockClause = "for no key update";

function isLockOf(org: string, { text, values }: Submitted): boolean {
  return text.includes(lockClause) && text.includes('from "orgs"') && values?.includes(org) === true;
}
