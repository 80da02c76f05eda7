import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { type Project, ProjectsService, Project_StateSchema } from "../../../../gen/iam/v1alpha/project_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { useCreating } from "../../app/use-creating.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { texts } from "../../texts/texts.ts";
import { restoreColumn } from "../../ui/actions/restore-button.tsx";
import { useActions } from "../../ui/actions/use-actions.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { ListPage } from "../../ui/list-page.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { copiedOf } from "../../ui/row-menu.tsx";
import { SelectFilter, stateChoicesOf } from "../../ui/select-filter.tsx";
import { StateBadge } from "../../ui/state-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { CreateProjectDialog } from "./create-project-dialog.tsx";
import { useProjectActions } from "./use-project-actions.ts";

const columns: readonly Column<Project>[] = [
  {
    title: texts.columns.name,
    orderBy: "display_name",
    cell: (row) => <PathLink path={row.path} name={row.displayName || row.name} />,
  },
  { title: texts.columns.nameInPaths, wide: true, orderBy: "name", cell: (row) => <code>{row.name}</code> },
  { title: texts.columns.description, wide: true, cell: (row) => <bdi>{row.description}</bdi> },
  { title: texts.columns.state, cell: (row) => <StateBadge of={Project_StateSchema} value={row.state} /> },
  { title: texts.columns.created, wide: true, orderBy: "create_time", cell: (row) => <Time at={row.createTime} /> },
];

const stateChoices = stateChoicesOf(texts.projects.anyState, ["ACTIVE", "SUSPENDED", "DELETED"]);

/** The projects of an org; with the state in the URL, those that are deleted, which are restored here. */
export function ProjectsScreen() {
  const { org } = useParams({ from: "/orgs/$org/projects" });
  const search = useSearch({ from: "/orgs/$org/projects" });
  const { q, page = "", order = "", state } = search;
  const parentPath = `/orgs/${org}`;
  const permissions = usePermissions(parentPath, ["iam.projects.create", "iam.projects.undelete"]);
  const actions = useActions(useProjectActions());
  const isDeleted = state === "DELETED";
  const [creating, setCreating] = useCreating(permissions, "iam.projects.create");
  const projects = useQuery(
    ProjectsService.method.listProjects,
    {
      parentPath,
      pageSize: 100,
      pageToken: page,
      filter: toFilter(q, state && `state = ${state}`),
      orderBy: order,
      showDeleted: isDeleted,
    },
    { placeholderData: keepPreviousData },
  );
  return (
    <ListPage
      words={texts.projects}
      permissions={permissions}
      permission="iam.projects.create"
      onCreate={() => setCreating(true)}
      search={search}
      filters={<SelectFilter label={texts.columns.state} name="state" value={state ?? ""} choices={stateChoices} />}
      narrowed={state !== undefined}
      of={projects}
      rowsOf={(found) => found.projects}
      table={(rows) => (
        <DataTable
          label={texts.projects.title}
          columns={isDeleted ? [...columns, restoreColumn(permissions, actions.of)] : columns}
          rows={rows}
          keyOf={({ id }) => id}
          copiedOf={copiedOf}
          actionsOf={actions.of}
        />
      )}
    >
      <CreateProjectDialog org={parentPath} open={creating} onClose={() => setCreating(false)} />
      {actions.dialogs}
    </ListPage>
  );
}
