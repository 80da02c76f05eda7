import { type PlannedChange, PlannedChange_ActionSchema } from "../../../../gen/iam/v1alpha/org_file_pb.ts";
import { belowOrg } from "../../calls/paths.ts";
import { wordIn } from "../../texts/enum-words.ts";
import { rollbackTexts } from "../../texts/moment-texts.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { DifferentFields } from "../changes/differences.tsx";

const columns: readonly Column<PlannedChange>[] = [
  {
    title: texts.columns.what,
    cell: ({ action }) => wordIn(rollbackTexts.actions, PlannedChange_ActionSchema, action),
  },
  {
    title: texts.columns.path,
    cell: ({ resourcePath, changedValues }) => (
      <>
        <bdi>{belowOrg(resourcePath)}</bdi>
        {changedValues.length === 0 ? null : (
          <div className="differences">
            <dl className="facts">
              <DifferentFields
                differences={changedValues.map(({ field, before, after }) => ({
                  field,
                  before: before || undefined,
                  after: after || undefined,
                }))}
              />
            </dl>
          </div>
        )}
      </>
    ),
  },
];

/** What would be changed, in the order in which it would be. */
export function PlannedChanges({ changes }: { readonly changes: readonly PlannedChange[] }) {
  // Something can be changed twice, as when two resources swap their names.
  const keys = new Map(changes.map((change, index) => [change, `${index} ${change.resourcePath}`]));
  return (
    <DataTable
      label={rollbackTexts.changes}
      columns={columns}
      rows={changes}
      keyOf={(change) => keys.get(change) ?? ""}
    />
  );
}
