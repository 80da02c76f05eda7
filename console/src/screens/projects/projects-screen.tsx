import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { type Project, ProjectsService, Project_StateSchema } from "../../../../gen/iam/v1alpha/project_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Answered, Empty } from "../../ui/notes.tsx";
import { Page } from "../../ui/page.tsx";
import { Pager } from "../../ui/pager.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { StateBadge } from "../../ui/state-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { CreateProjectDialog } from "./create-project-dialog.tsx";

const columns: readonly Column<Project>[] = [
  { title: texts.columns.name, cell: (row) => <PathLink path={row.path} name={row.displayName || row.name} /> },
  { title: texts.columns.nameInPaths, wide: true, cell: (row) => <code>{row.name}</code> },
  { title: texts.columns.state, cell: (row) => <StateBadge of={Project_StateSchema} value={row.state} /> },
  { title: texts.columns.created, wide: true, cell: (row) => <Time at={row.createTime} /> },
];

/** The projects of an org. */
export function ProjectsScreen() {
  const { org } = useParams({ from: "/orgs/$org/projects" });
  const { q, page = "" } = useSearch({ from: "/orgs/$org/projects" });
  const [creating, setCreating] = useState(false);
  const parentPath = `/orgs/${org}`;
  const permissions = usePermissions(parentPath, ["iam.projects.create"]);
  const projects = useQuery(
    ProjectsService.method.listProjects,
    { parentPath, pageSize: 100, pageToken: page, filter: toFilter(q) },
    { placeholderData: keepPreviousData },
  );
  return (
    <Page
      title={texts.projects.title}
      actions={
        <GuardedButton
          kind="primary"
          permissions={permissions}
          permission="iam.projects.create"
          onClick={() => setCreating(true)}
        >
          {texts.projects.create}
        </GuardedButton>
      }
    >
      <div className="filters">
        <SearchBox label={texts.projects.search} value={q ?? ""} />
      </div>
      <Answered of={projects}>
        {({ projects: rows, nextPageToken, totalSize }) => (
          <>
            {rows.length === 0 ? (
              <Empty title={q === undefined ? texts.projects.none : texts.projects.noneFound}>
                {q === undefined ? <p>{texts.projects.noneHint}</p> : null}
              </Empty>
            ) : (
              <DataTable label={texts.projects.title} columns={columns} rows={rows} keyOf={(row) => row.id} />
            )}
            <Pager page={page} nextPage={nextPageToken} shown={rows.length} total={totalSize} />
          </>
        )}
      </Answered>
      <CreateProjectDialog org={parentPath} open={creating} onClose={() => setCreating(false)} />
    </Page>
  );
}
