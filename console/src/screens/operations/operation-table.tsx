import { type Operation, Operation_StateSchema } from "../../../../gen/resources/v1alpha/operation_pb.ts";
import { nameOf } from "../../calls/paths.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import { operationTexts } from "../../texts/resource-texts.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { StateBadge } from "../../ui/state-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { Progress } from "./progress.tsx";

interface OperationTableProps {
  readonly rows: readonly Operation[];
  /** Whether they are all of the resource that the screen shows. */
  readonly ofOne: boolean;
}

export function OperationTable({ rows, ofOne }: OperationTableProps) {
  const displayNameOf = useDisplayNames([...new Set(rows.map(({ memberPath }) => memberPath).filter(Boolean))]);
  const resource: Column<Operation> = {
    title: operationTexts.resource,
    cell: ({ resourcePath }) => <PathLink path={resourcePath} name={nameOf(resourcePath)} />,
  };
  const columns: readonly Column<Operation>[] = [
    { title: operationTexts.one, cell: ({ path, verb }) => <PathLink path={path} name={verb} /> },
    ...(ofOne ? [] : [resource]),
    { title: texts.columns.state, cell: ({ state }) => <StateBadge of={Operation_StateSchema} value={state} /> },
    {
      title: operationTexts.progress,
      wide: true,
      cell: (operation) => (
        <div className="progress">
          <Progress operation={operation} />
        </div>
      ),
    },
    {
      title: texts.columns.who,
      wide: true,
      cell: ({ memberPath }) =>
        memberPath === "" ? texts.overview.service : <PathLink path={memberPath} name={displayNameOf(memberPath)} />,
    },
    { title: texts.columns.begun, wide: true, cell: ({ createTime }) => <Time at={createTime} /> },
  ];
  return <DataTable label={operationTexts.title} columns={columns} rows={rows} keyOf={({ id }) => id} />;
}
