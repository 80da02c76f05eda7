import type { Permissions } from "../../calls/use-permissions.ts";
import { lifecycleTexts } from "../../texts/lifecycle-texts.ts";
import { texts } from "../../texts/texts.ts";
import { Button } from "../button.tsx";
import type { Column } from "../data-table.tsx";
import type { RowAction } from "./row-action.ts";

interface RestoreButtonProps {
  readonly name: string;
  readonly actions: readonly RowAction[];
  /** On what the list is of. */
  readonly permissions: Permissions;
}

/**
 * Restores a row that is deleted, for who may restore all of a list. Who may restore only some does it in the menus of these, which say
 * what others lack.
 */
export function RestoreButton({ name, actions, permissions }: RestoreButtonProps) {
  const restore = actions.find(({ act }) => act === lifecycleTexts.restore);
  if (restore === undefined || permissions.may(restore.permission) !== true) return null;
  return (
    <Button kind="quiet" aria-label={`${restore.act} ${name}`} onClick={restore.ask}>
      {restore.act}
    </Button>
  );
}

/** The column of these buttons, in a list of what is deleted. */
export const restoreColumn = <Row extends { readonly name: string; readonly displayName: string }>(
  permissions: Permissions,
  actionsOf: (row: Row) => readonly RowAction[],
): Column<Row> => ({
  title: texts.columns.actions,
  numeric: true,
  cell: (row) => (
    <RestoreButton name={row.displayName || row.name} actions={actionsOf(row)} permissions={permissions} />
  ),
});
