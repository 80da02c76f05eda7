import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import {
  type Member,
  MembersService,
  Member_StateSchema,
  Member_TypeSchema,
} from "../../../../gen/iam/v1alpha/member_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { type Permissions, usePermissions } from "../../calls/use-permissions.ts";
import { stateNames, wordFor } from "../../texts/state-names.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Answered, Empty } from "../../ui/notes.tsx";
import { Page } from "../../ui/page.tsx";
import { Pager } from "../../ui/pager.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { SelectFilter } from "../../ui/select-filter.tsx";
import { StateBadge } from "../../ui/state-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { CreateMembersDialog } from "./create-members-dialog.tsx";
import { memberPermissions, SuspendButton } from "./suspend-button.tsx";

const pageSize = 100;

const stateChoices = [
  { value: "", label: texts.members.anyState },
  ...["ACTIVE", "INVITED", "SUSPENDED"].map((value) => ({ value, label: stateNames[value] ?? value })),
];

/** The members of an org: found by words and state, created, and suspended. */
export function MembersScreen() {
  const { org } = useParams({ from: "/orgs/$org/members" });
  const { q, page = "", state } = useSearch({ from: "/orgs/$org/members" });
  const [creating, setCreating] = useState(false);
  const parentPath = `/orgs/${org}`;
  const permissions = usePermissions(parentPath, ["iam.members.create", ...memberPermissions]);
  const filter = toFilter(q, state === undefined ? undefined : `state = ${state}`);
  const members = useQuery(
    MembersService.method.listMembers,
    { parentPath, pageSize, pageToken: page, filter },
    { placeholderData: keepPreviousData },
  );
  return (
    <Page
      title={texts.members.title}
      actions={
        <GuardedButton
          kind="primary"
          permissions={permissions}
          permission="iam.members.create"
          onClick={() => setCreating(true)}
        >
          {texts.members.create}
        </GuardedButton>
      }
    >
      <div className="filters">
        <SearchBox label={texts.members.search} value={q ?? ""} />
        <SelectFilter label={texts.columns.state} name="state" value={state ?? ""} choices={stateChoices} />
      </div>
      <Answered of={members}>
        {({ members: rows, nextPageToken, totalSize }) => (
          <>
            {rows.length === 0 ? (
              <NoMembers filtered={filter !== ""} />
            ) : (
              <MemberTable rows={rows} permissions={permissions} />
            )}
            <Pager page={page} nextPage={nextPageToken} shown={rows.length} total={totalSize} />
          </>
        )}
      </Answered>
      <CreateMembersDialog org={parentPath} open={creating} onClose={() => setCreating(false)} />
    </Page>
  );
}

function NoMembers({ filtered }: { readonly filtered: boolean }) {
  if (filtered) return <Empty title={texts.members.noneFound} />;
  return (
    <Empty title={texts.members.none}>
      <p>{texts.members.noneHint}</p>
    </Empty>
  );
}

function MemberTable({ rows, permissions }: { readonly rows: readonly Member[]; readonly permissions: Permissions }) {
  const columns: readonly Column<Member>[] = [
    { title: texts.columns.name, cell: (row) => <PathLink path={row.path} name={row.displayName || row.name} /> },
    { title: texts.columns.nameInPaths, wide: true, cell: (row) => <code>{row.name}</code> },
    { title: texts.columns.type, wide: true, cell: (row) => wordFor(Member_TypeSchema, row.type) },
    { title: texts.columns.state, cell: (row) => <StateBadge of={Member_StateSchema} value={row.state} /> },
    { title: texts.columns.created, wide: true, cell: (row) => <Time at={row.createTime} /> },
    {
      title: texts.columns.actions,
      numeric: true,
      cell: (row) => <SuspendButton member={row} permissions={permissions} />,
    },
  ];
  return <DataTable label={texts.members.title} columns={columns} rows={rows} keyOf={(row) => row.id} />;
}
