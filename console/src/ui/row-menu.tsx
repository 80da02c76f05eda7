import { lazy, Suspense, useState } from "react";
import { rowMenuTexts } from "../texts/row-menu-texts.ts";
import type { RowAction } from "./actions/row-action.ts";

/** What can be copied of a row. */
export interface Copied {
  /** What people call it. */
  readonly name: string;
  readonly path: string;
  readonly id: string;
}

/** Loaded when somebody opens it. */
const OpenRowMenu = lazy(async () => ({ default: (await import("./open-row-menu.tsx")).OpenRowMenu }));

interface RowMenuProps {
  readonly of: Copied;
  readonly actions?: readonly RowAction[] | undefined;
}

/** Opens a row, does what can be done with it, and copies its path or id. */
export function RowMenu({ of, actions = [] }: RowMenuProps) {
  const [opened, setOpened] = useState(false);
  const label = rowMenuTexts.more(of.name);
  const closed = (
    <button
      type="button"
      className="button quiet more"
      aria-label={label}
      aria-haspopup="dialog"
      onClick={() => setOpened(true)}
    >
      ⋯
    </button>
  );
  if (!opened) return closed;
  return (
    <Suspense fallback={closed}>
      <OpenRowMenu of={of} label={label} actions={actions} />
    </Suspense>
  );
}

interface Named {
  readonly name: string;
  readonly displayName: string;
  readonly path: string;
  readonly id: string;
}

/** What can be copied of a resource that has a name. */
export const copiedOf = ({ name, displayName, path, id }: Named): Copied => ({ name: displayName || name, path, id });
