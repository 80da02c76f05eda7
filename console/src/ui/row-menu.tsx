import { lazy, Suspense, useState } from "react";
import { rowMenuTexts } from "../texts/row-menu-texts.ts";

/** What can be copied of a row. */
export interface Copied {
  /** What people call it. */
  readonly name: string;
  readonly path: string;
  readonly id: string;
}

/** Loaded when somebody opens it. */
const OpenRowMenu = lazy(async () => ({ default: (await import("./open-row-menu.tsx")).OpenRowMenu }));

/** Copies the path or the id of a row. */
export function RowMenu({ of }: { readonly of: Copied }) {
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
      <OpenRowMenu of={of} label={label} />
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
