import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { type Project, ProjectsService, Project_StateSchema } from "../../../../gen/iam/v1alpha/project_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { useCreating } from "../../app/use-creating.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { ListPage } from "../../ui/list-page.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { copiedOf } from "../../ui/row-menu.tsx";
import { StateBadge } from "../../ui/state-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { CreateProjectDialog } from "./create-project-dialog.tsx";

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

/** The projects of an org. */
export function ProjectsScreen() {
  const { org } = useParams({ from: "/orgs/$org/projects" });
  const search = useSearch({ from: "/orgs/$org/projects" });
  const { q, page = "", order = "" } = search;
  const parentPath = `/orgs/${org}`;
  const permissions = usePermissions(parentPath, ["iam.projects.create"]);
  const [creating, setCreating] = useCreating(permissions, "iam.projects.create");
  const projects = useQuery(
    ProjectsService.method.listProjects,
    { parentPath, pageSize: 100, pageToken: page, filter: toFilter(q), orderBy: order },
    { placeholderData: keepPreviousData },
  );
  return (
    <ListPage
      words={texts.projects}
      permissions={permissions}
      permission="iam.projects.create"
      onCreate={() => setCreating(true)}
      search={search}
      of={projects}
      rowsOf={(found) => found.projects}
      table={(rows) => (
        <DataTable
          label={texts.projects.title}
          columns={columns}
          rows={rows}
          keyOf={({ id }) => id}
          copiedOf={copiedOf}
        />
      )}
    >
      <CreateProjectDialog org={parentPath} open={creating} onClose={() => setCreating(false)} />
    </ListPage>
  );
}
