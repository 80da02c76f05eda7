import { useNavigate } from "@tanstack/react-router";
import type { Permissions } from "../../calls/use-permissions.ts";
import type { Changeable } from "../change-dialog.tsx";
import { GuardedButton } from "../guarded-button.tsx";
import type { RowAction } from "./row-action.ts";
import { type ActionsOfKind, useActions } from "./use-actions.tsx";

interface GuardedActionsProps {
  readonly actions: readonly RowAction[];
  readonly permissions: Permissions;
}

/** A button for each of several actions. Those that would be refused say why. */
export function GuardedActions({ actions, permissions }: GuardedActionsProps) {
  return actions.map(({ act, permission, kind, ask }) => (
    <GuardedButton key={act} kind={kind} permissions={permissions} permission={permission} onClick={ask}>
      {act}
    </GuardedButton>
  ));
}

interface ActionButtonsProps<Resource extends Changeable> {
  readonly of: Resource;
  readonly actions: ActionsOfKind<Resource>;
  readonly permissions: Permissions;
}

/** The buttons for what can be done with what a screen shows. What is deleted leads to the list that it was in. */
export function ActionButtons<Resource extends Changeable>({ of, actions, permissions }: ActionButtonsProps<Resource>) {
  const navigate = useNavigate();
  const { of: actionsOf, dialogs } = useActions(actions, {
    onDeleted: (path) => navigate({ to: path.slice(0, path.lastIndexOf("/")) }),
    onState: (path) => navigate({ to: path, search: (before) => before, replace: true }),
  });
  return (
    <>
      <GuardedActions actions={actionsOf(of)} permissions={permissions} />
      {dialogs}
    </>
  );
}
