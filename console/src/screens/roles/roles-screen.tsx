import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { type Role, RolesService } from "../../../../gen/iam/v1alpha/role_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { useCreating } from "../../app/use-creating.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable, type DataTableProps } from "../../ui/data-table.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Answered, Empty } from "../../ui/notes.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { Pager } from "../../ui/pager.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { copiedOf } from "../../ui/row-menu.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { CreateRoleDialog } from "./role-dialog.tsx";
import { useRoleActions } from "./use-role-actions.tsx";

const columns: readonly Column<Role>[] = [
  { title: texts.columns.name, cell: (row) => <PathLink path={row.path} name={row.displayName || row.name} /> },
  { title: texts.columns.description, wide: true, cell: ({ description }) => <bdi>{description}</bdi> },
  {
    title: texts.roles.permissions,
    numeric: true,
    cell: ({ permissions }) => (permissions.includes("*") ? texts.roles.all : permissions.length),
  },
];

type TableProps = Pick<DataTableProps<Role>, "label" | "rows" | "actionsOf">;

function Table(props: TableProps) {
  return <DataTable {...props} columns={columns} keyOf={({ id }) => id} copiedOf={copiedOf} />;
}

/** The roles of an org, and those that are the same in every org. */
export function RolesScreen() {
  const { org } = useParams({ from: "/orgs/$org/roles" });
  const { q } = useSearch({ from: "/orgs/$org/roles" });
  const parentPath = `/orgs/${org}`;
  const permissions = usePermissions(parentPath, ["iam.roles.create"]);
  const [creating, setCreating] = useCreating(permissions, "iam.roles.create");
  return (
    <Page
      title={texts.roles.title}
      intro={texts.roles.intro}
      actions={
        <GuardedButton
          kind="primary"
          permissions={permissions}
          permission="iam.roles.create"
          onClick={() => setCreating(true)}
        >
          {texts.roles.create}
        </GuardedButton>
      }
    >
      <Section title={texts.roles.own} actions={<SearchBox label={texts.roles.search} value={q ?? ""} />}>
        <OwnRoles org={parentPath} />
      </Section>
      <Section title={texts.roles.predefined}>
        <PredefinedRoles />
      </Section>
      <CreateRoleDialog org={parentPath} open={creating} onClose={() => setCreating(false)} />
    </Page>
  );
}

function OwnRoles({ org }: { readonly org: string }) {
  const { q, page = "" } = useSearch({ from: "/orgs/$org/roles" });
  const actions = useRoleActions(org);
  const request = { parentPath: org, pageSize: 100, pageToken: page, filter: toFilter(q) };
  const roles = useQuery(RolesService.method.listRoles, request, { placeholderData: keepPreviousData });
  return (
    <Answered of={roles}>
      {({ roles: rows, nextPageToken, totalSize }) => (
        <>
          {rows.length === 0 ? (
            <NoRoles searched={q !== undefined} />
          ) : (
            <Table label={texts.roles.own} rows={rows} actionsOf={actions.of} />
          )}
          <Pager page={page} nextPage={nextPageToken} shown={rows.length} total={totalSize} />
          {actions.dialogs}
        </>
      )}
    </Answered>
  );
}

function NoRoles({ searched }: { readonly searched: boolean }) {
  if (searched) return <Empty title={texts.roles.noneFound} />;
  return (
    <Empty title={texts.roles.none}>
      <p>{texts.roles.noneHint}</p>
    </Empty>
  );
}

function PredefinedRoles() {
  const roles = useQuery(RolesService.method.listRoles, { pageSize: 1_000 }, { retry: false });
  return <Answered of={roles}>{({ roles: rows }) => <Table label={texts.roles.predefined} rows={rows} />}</Answered>;
}
