import type { ButtonKind } from "../button.tsx";

/** What can be done with a row of a table, or with what a screen shows. */
export interface RowAction {
  /** Such as "Suspend". */
  readonly act: string;
  /** What the service requires, on the row itself. */
  readonly permission: string;
  readonly kind: ButtonKind;
  /** Asks whether to do it, or for what it takes. */
  readonly ask: () => void;
}
