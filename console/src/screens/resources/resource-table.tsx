import { type Resource, Resource_StateSchema } from "../../../../gen/resources/v1alpha/resource_pb.ts";
import type { ResourceType } from "../../../../gen/resources/v1alpha/resource_type_pb.ts";
import { parentOf } from "../../calls/paths.ts";
import { useTypeNames } from "../../calls/use-catalog.ts";
import { useQuantityKinds } from "../../calls/use-kinds.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import { resourceTexts } from "../../texts/resource-texts.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { copiedOf } from "../../ui/row-menu.tsx";
import { StateBadge } from "../../ui/state-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { amountColumns } from "./amount-columns.tsx";
import { useResourceActions } from "./use-resource-actions.tsx";

interface ResourceTableProps {
  readonly rows: readonly Resource[];
  /** Whether they are of several projects. */
  readonly ofAllProjects: boolean;
  readonly types: readonly ResourceType[];
  /** The only type that is listed, if it is one. */
  readonly only: ResourceType | undefined;
}

export function ResourceTable({ rows, ofAllProjects, types, only }: ResourceTableProps) {
  const typeNameOf = useTypeNames();
  const actions = useResourceActions(types);
  const projects = [...new Set(rows.map(({ path }) => parentOf(path)))];
  const projectNameOf = useDisplayNames(ofAllProjects ? projects : []);
  const project: Column<Resource> = {
    title: resourceTexts.project,
    cell: ({ path }) => <PathLink path={parentOf(path)} name={projectNameOf(parentOf(path))} />,
  };
  const columns: readonly Column<Resource>[] = [
    { title: texts.columns.name, cell: (row) => <PathLink path={row.path} name={row.displayName || row.name} /> },
    {
      title: texts.columns.type,
      wide: true,
      cell: (row) => <PathLink path={row.typePath} name={typeNameOf(row.typePath)} />,
    },
    ...(ofAllProjects ? [project] : []),
    { title: texts.columns.state, cell: (row) => <StateBadge of={Resource_StateSchema} value={row.state} /> },
    ...amountColumns(rows, only, useQuantityKinds()),
    { title: texts.columns.created, wide: true, cell: (row) => <Time at={row.createTime} /> },
  ];
  return (
    <>
      <DataTable
        label={resourceTexts.title}
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        copiedOf={copiedOf}
        actionsOf={actions.of}
      />
      {actions.dialogs}
    </>
  );
}
