import { type ReactNode, useState } from "react";
import type { RowAction } from "./row-action.ts";
import type { StateAction, Versioned } from "./state-action.ts";
import { StateDialog } from "./state-dialog.tsx";

/** What can be done with each of several resources. */
export interface Actions<Resource> {
  readonly of: (resource: Resource) => readonly RowAction[];
  /** What asks. It has to be drawn once, beside what offers the actions. */
  readonly dialogs: ReactNode;
}

/**
 * Offers what changes the states of resources, and asks before it is done.
 *
 * @param onDone called with the path that a resource has in its other state.
 */
export function useStateActions<Resource extends Versioned & { readonly name: string; readonly displayName: string }>(
  states: readonly StateAction<Resource>[],
  onDone?: (path: string) => Promise<unknown>,
): Actions<Resource> {
  // The resource as it was when somebody asked for that.
  const [asked, setAsked] = useState<{ readonly act: string; readonly resource: Resource }>();
  return {
    of: (resource) =>
      states
        .filter(({ fits }) => fits(resource))
        .map((action) => ({ ...action, ask: () => setAsked({ act: action.act, resource }) })),
    dialogs: states.map((action) => (
      <StateDialog
        key={action.act}
        action={action}
        of={asked?.act === action.act ? asked.resource : undefined}
        onClose={() => setAsked(undefined)}
        onDone={onDone}
      />
    )),
  };
}
