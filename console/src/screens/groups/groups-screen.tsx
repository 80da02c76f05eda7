import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { type Group, GroupsService } from "../../../../gen/iam/v1alpha/group_pb.ts";
import { managedBy, toFilter } from "../../app/list-search.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { texts } from "../../texts/texts.ts";
import { useActions } from "../../ui/actions/use-actions.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { ManagedNote } from "../../ui/managed-note.tsx";
import { Answered, Empty, ErrorNote, Loading } from "../../ui/notes.tsx";
import { Page } from "../../ui/page.tsx";
import { Pager } from "../../ui/pager.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { copiedOf } from "../../ui/row-menu.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { CreateGroupDialog } from "./create-group-dialog.tsx";
import { useGroupActions } from "./use-group-actions.ts";
import { type TreeLine, useGroupTree } from "./use-group-tree.ts";

/** The groups of an org: as a tree, or those that words find. */
export function GroupsScreen() {
  const { org } = useParams({ from: "/orgs/$org/groups" });
  const { q, source } = useSearch({ from: "/orgs/$org/groups" });
  const [creating, setCreating] = useState(false);
  const parentPath = `/orgs/${org}`;
  const permissions = usePermissions(parentPath, ["iam.groups.create"]);
  return (
    <Page
      title={texts.groups.title}
      intro={texts.groups.intro}
      actions={
        <GuardedButton
          kind="primary"
          permissions={permissions}
          permission="iam.groups.create"
          onClick={() => setCreating(true)}
        >
          {texts.groups.create}
        </GuardedButton>
      }
    >
      <ManagedNote source={source} />
      <div className="filters">
        <SearchBox label={texts.groups.search} value={q ?? ""} />
      </div>
      {q === undefined && source === undefined ? <Tree org={parentPath} /> : <Found org={parentPath} />}
      <CreateGroupDialog org={parentPath} open={creating} onClose={() => setCreating(false)} />
    </Page>
  );
}

const treeColumns: readonly Column<TreeLine>[] = [
  {
    title: texts.columns.name,
    cell: ({ group, depth }) => (
      <span style={{ paddingInlineStart: `${depth * 1.5}rem` }}>
        {depth === 0 ? null : (
          <span className="quiet-text">
            <span aria-hidden="true">└ </span>
            <span className="unseen">{texts.groups.level(depth + 1)}</span>
          </span>
        )}
        <PathLink path={group.path} name={group.displayName || group.name} />
      </span>
    ),
  },
  { title: texts.columns.description, wide: true, cell: ({ group }) => <bdi>{group.description}</bdi> },
];

/** All groups as a tree, while there are not too many; otherwise page by page. */
function Tree({ org }: { readonly org: string }) {
  const { page } = useSearch({ from: "/orgs/$org/groups" });
  const { lines, error, settled } = useGroupTree(org, page === undefined);
  const actions = useActions(useGroupActions());
  // What was read before stays, with the dialog that somebody may have opened of it.
  if (error !== null && lines === undefined) return <ErrorNote error={error} />;
  if (page !== undefined || (settled && lines === undefined)) return <Found org={org} />;
  if (lines === undefined) return <Loading />;
  if (lines.length === 0) {
    return (
      <Empty title={texts.groups.none}>
        <p>{texts.groups.noneHint}</p>
      </Empty>
    );
  }
  return (
    <>
      <DataTable
        label={texts.groups.title}
        columns={treeColumns}
        rows={lines}
        keyOf={({ key }) => key}
        copiedOf={({ group }) => copiedOf(group)}
        actionsOf={({ group }) => actions.of(group)}
      />
      {actions.dialogs}
    </>
  );
}

const columns: readonly Column<Group>[] = [
  { title: texts.columns.name, cell: (group) => <PathLink path={group.path} name={group.displayName || group.name} /> },
  { title: texts.columns.description, wide: true, cell: ({ description }) => <bdi>{description}</bdi> },
];

function Found({ org }: { readonly org: string }) {
  const { q, source, page = "" } = useSearch({ from: "/orgs/$org/groups" });
  const actions = useActions(useGroupActions());
  const request = { parentPath: org, pageSize: 100, pageToken: page, filter: toFilter(q, managedBy(source)) };
  const groups = useQuery(GroupsService.method.listGroups, request, { placeholderData: keepPreviousData });
  return (
    <Answered of={groups}>
      {({ groups: rows, nextPageToken, totalSize }) => (
        <>
          {rows.length === 0 ? (
            <Empty title={texts.groups.noneFound} />
          ) : (
            <DataTable
              label={texts.groups.title}
              columns={columns}
              rows={rows}
              keyOf={({ id }) => id}
              copiedOf={copiedOf}
              actionsOf={actions.of}
            />
          )}
          <Pager page={page} nextPage={nextPageToken} shown={rows.length} total={totalSize} />
          {actions.dialogs}
        </>
      )}
    </Answered>
  );
}
