import { useRef, useState } from "react";
import type { Permissions } from "../../calls/use-permissions.ts";
import { type Nouns, manyTexts } from "../../texts/many-texts.ts";
import { Button } from "../button.tsx";
import { DataTable, type DataTableProps } from "../data-table.tsx";
import { GuardedButton } from "../guarded-button.tsx";
import type { ManyAction } from "./many-action.ts";
import { ManyDialog } from "./many-dialog.tsx";
import { useChoice } from "./use-choice.ts";

interface ManyTableProps<Row> extends DataTableProps<Row> {
  /** What people call a row. */
  readonly nameOf: (row: Row) => string;
  readonly nouns: Nouns;
  readonly permissions: Permissions;
  readonly actions: readonly ManyAction<Row>[];
}

/** What somebody is about to do, and the rows as they were when they asked for that. */
interface Asked<Row> {
  readonly action: ManyAction<Row>;
  readonly rows: readonly Row[];
  readonly leftOut: number;
}

/** A table whose rows are chosen, to act on all of them. */
export function ManyTable<Row extends { readonly path: string }>({
  nameOf,
  nouns,
  permissions,
  actions,
  ...table
}: ManyTableProps<Row>) {
  const choice = useChoice(table.rows, table.keyOf);
  const bar = useRef<HTMLDivElement>(null);
  const [asked, setAsked] = useState<Asked<Row>>();
  const onActions = (): void => bar.current?.querySelector<HTMLElement>(":scope > button")?.focus();
  const clear = (): void => {
    // The button goes with the bar, and the focus would be nowhere.
    bar.current?.previousElementSibling?.querySelector<HTMLElement>("th input.choose")?.focus();
    choice.chooseOnly([]);
  };
  const offered = actions
    .map((action) => ({ action, rows: choice.rows.filter((row) => action.fits?.(row) ?? true) }))
    .filter(({ rows }) => rows.length > 0);
  return (
    <>
      <DataTable {...table} choosing={{ choice, nameOf, onActions }} />
      {choice.rows.length === 0 ? null : (
        <div ref={bar} className="choice-bar" role="group" aria-label={manyTexts.bar}>
          <span className="choice-count">
            {manyTexts.chosen(choice.rows.length)}
            <Button kind="quiet" onClick={clear}>
              {manyTexts.clear}
            </Button>
          </span>
          {offered.map(({ action, rows }) => (
            <GuardedButton
              key={action.act}
              kind={action.kind ?? "plain"}
              permissions={action.permissionsOf?.(rows) ?? permissions}
              permission={action.permission}
              onClick={() => setAsked({ action, rows, leftOut: choice.rows.length - rows.length })}
            >
              {action.act}
            </GuardedButton>
          ))}
        </div>
      )}
      {asked === undefined ? null : (
        <ManyDialog
          {...asked}
          keyOf={table.keyOf}
          nameOf={nameOf}
          nouns={nouns}
          onClose={(rest) => {
            setAsked(undefined);
            if (rest !== undefined) choice.chooseOnly(rest);
          }}
        />
      )}
    </>
  );
}
