// Most of the time of a short statement is the way to the server and back. A statement whose result nobody needs at once is held
// back in its transaction, and sent together with the next one.
import { sql } from "kysely";

const mark = "/* held back */";

/**
 * The end of a statement that is held back. The array of its rows is empty, and gets them when the next statement has run. If it
 * fails, the next statement fails with its error.
 */
export const heldBack = sql.raw(mark);

/** Whether a statement of a transaction is sent with the next one. */
export function isHeldBack(text: string): boolean {
  return text.endsWith(mark);
}
