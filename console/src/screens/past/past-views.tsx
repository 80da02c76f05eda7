// What an org had, as lists: each a method of the service, with a table.
import type { DescMessage, DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { GroupMembersService } from "../../../../gen/iam/v1alpha/group_member_pb.ts";
import { GroupsService } from "../../../../gen/iam/v1alpha/group_pb.ts";
import { MembersService, Member_StateSchema, Member_TypeSchema } from "../../../../gen/iam/v1alpha/member_pb.ts";
import { ProjectsService, Project_StateSchema } from "../../../../gen/iam/v1alpha/project_pb.ts";
import { type RoleBinding, RoleBindingsService } from "../../../../gen/iam/v1alpha/role_binding_pb.ts";
import { RolesService } from "../../../../gen/iam/v1alpha/role_pb.ts";
import type { PastShow } from "../../app/list-search.ts";
import { nameOf } from "../../calls/paths.ts";
import { pastTexts } from "../../texts/moment-texts.ts";
import { wordFor } from "../../texts/state-names.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { StateBadge } from "../../ui/state-badge.tsx";
import { Time } from "../../ui/time.tsx";

/** A page of a list. */
interface ShownPage {
  readonly rows: number;
  readonly nextPageToken: string;
  readonly table: ReactNode;
}

export interface PastView {
  readonly label: string;
  readonly method: DescMethodUnary;
  /** What it lists, below the org: `groups/@<id>`. Empty for the org itself. */
  readonly below: (within: string) => string;
  readonly show: (answer: unknown) => ShownPage;
}

interface Row {
  readonly id: string;
}

/** A method that lists, with the rows of its answer. */
interface Listed<Each extends Row> {
  readonly method: DescMethodUnary;
  readonly rowsOf: (answer: unknown) => readonly Each[];
}

function listed<Output extends DescMessage, Each extends Row>(
  method: DescMethodUnary<DescMessage, Output>,
  rowsOf: (answer: MessageShape<Output>) => readonly Each[],
): Listed<Each> {
  return { method, rowsOf: (answer) => rowsOf(answer as MessageShape<Output>) };
}

function defineView<Each extends Row>(
  label: string,
  { method, rowsOf }: Listed<Each>,
  columns: readonly Column<NoInfer<Each>>[],
  below: PastView["below"] = () => "",
): PastView {
  return {
    label,
    method,
    below,
    show(answer) {
      const { nextPageToken } = answer as { readonly nextPageToken: string };
      const rows = rowsOf(answer);
      const table = <DataTable label={label} columns={columns} rows={rows} keyOf={({ id }) => id} />;
      return { rows: rows.length, nextPageToken, table };
    },
  };
}

interface Named extends Row {
  readonly name: string;
  readonly displayName: string;
  readonly path: string;
}

/** Leads nowhere: what has the path now may be something else. */
const name = {
  title: texts.columns.name,
  cell: (row: Named) => <bdi title={row.path}>{row.displayName || row.name}</bdi>,
};

const description = {
  title: texts.columns.description,
  wide: true,
  cell: (row: { readonly description: string }) => <bdi>{row.description}</bdi>,
};

/** A column that leads to what was in something. */
const inside = (show: PastShow, text: string) => ({
  title: texts.columns.what,
  cell: ({ id, displayName, name: plain }: Named) => (
    <Link
      from="/orgs/$org/past"
      to="/orgs/$org/past"
      search={(search) => ({ at: search.at, show, within: id })}
      aria-label={`${text}: ${displayName || plain}`}
    >
      {text}
    </Link>
  ),
});

const pathCell = (path: string) => <bdi title={path}>{nameOf(path)}</bdi>;

const bindingColumns: readonly Column<RoleBinding>[] = [
  { title: texts.columns.role, cell: ({ rolePath }) => pathCell(rolePath) },
  { title: texts.columns.who, cell: ({ subjectPath }) => pathCell(subjectPath) },
  { title: texts.columns.condition, wide: true, cell: ({ condition }) => <code>{condition}</code> },
  { title: texts.columns.until, wide: true, cell: ({ expireTime }) => <Time at={expireTime} none="" /> },
];

const { listRoleBindings } = RoleBindingsService.method;

/** Each is in the URL, as `show`. */
export const pastViews = {
  members: defineView(
    texts.members.title,
    listed(MembersService.method.listMembers, ({ members }) => members),
    [
      name,
      { title: texts.columns.type, wide: true, cell: ({ type }) => wordFor(Member_TypeSchema, type) },
      { title: texts.columns.state, cell: ({ state }) => <StateBadge of={Member_StateSchema} value={state} /> },
    ],
  ),
  groups: defineView(
    texts.groups.title,
    listed(GroupsService.method.listGroups, ({ groups }) => groups),
    [name, description, inside("groupMembers", pastTexts.members)],
  ),
  projects: defineView(
    texts.projects.title,
    listed(ProjectsService.method.listProjects, ({ projects }) => projects),
    [
      name,
      { title: texts.columns.state, cell: ({ state }) => <StateBadge of={Project_StateSchema} value={state} /> },
      inside("projectBindings", pastTexts.bindings),
    ],
  ),
  roles: defineView(
    texts.roles.title,
    listed(RolesService.method.listRoles, ({ roles }) => roles),
    [
      name,
      {
        title: pastTexts.permissions,
        wide: true,
        cell: ({ permissions }) => <code>{permissions.join(" ")}</code>,
      },
    ],
  ),
  roleBindings: defineView(
    texts.grants.title,
    listed(listRoleBindings, ({ roleBindings }) => roleBindings),
    bindingColumns,
  ),
  groupMembers: defineView(
    pastTexts.inGroup,
    listed(GroupMembersService.method.listGroupMembers, ({ members }) => members),
    [name, { title: texts.columns.until, cell: ({ expireTime }) => <Time at={expireTime} none="" /> }],
    (within) => `/groups/@${within}`,
  ),
  projectBindings: defineView(
    pastTexts.onProject,
    listed(listRoleBindings, ({ roleBindings }) => roleBindings),
    bindingColumns,
    (within) => `/projects/@${within}`,
  ),
} satisfies Readonly<Record<PastShow, PastView>>;
