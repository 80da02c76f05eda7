import { useMutation, useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { type GroupMember, GroupMembersService } from "../../../../gen/iam/v1alpha/group_member_pb.ts";
import { Member_StateSchema } from "../../../../gen/iam/v1alpha/member_pb.ts";
import type { Permissions } from "../../calls/use-permissions.ts";
import { manyTexts } from "../../texts/many-texts.ts";
import { texts } from "../../texts/texts.ts";
import type { Column } from "../../ui/data-table.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import type { ManyAction } from "../../ui/many/many-action.ts";
import { ManyTable } from "../../ui/many/many-table.tsx";
import { Answered, Empty } from "../../ui/notes.tsx";
import { Pager } from "../../ui/pager.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { RemovalDialog } from "../../ui/removal-dialog.tsx";
import { copiedOf } from "../../ui/row-menu.tsx";
import { StateBadge } from "../../ui/state-badge.tsx";
import { Time } from "../../ui/time.tsx";

interface DirectMembersProps {
  readonly group: string;
  readonly permissions: Permissions;
}

/** The members that are in a group itself. One is removed after the screen has shown who loses what. */
export function DirectMembers({ group, permissions }: DirectMembersProps) {
  const { page = "" } = useSearch({ from: "/orgs/$org/groups/$group" });
  const request = { parentPath: group, pageSize: 100, pageToken: page };
  const options = { retry: false, placeholderData: keepPreviousData };
  const members = useQuery(GroupMembersService.method.listGroupMembers, request, options);
  const [removing, setRemoving] = useState<GroupMember>();
  const remove = useMutation(GroupMembersService.method.deleteGroupMember);
  const etag = removing?.etag ?? "";
  const removeAll = useRemovalOfMany(group);
  const columns: readonly Column<GroupMember>[] = [
    { title: texts.columns.name, cell: (row) => <PathLink path={row.memberPath} name={row.displayName || row.name} /> },
    { title: texts.columns.state, wide: true, cell: (row) => <StateBadge of={Member_StateSchema} value={row.state} /> },
    { title: texts.columns.until, wide: true, cell: (row) => <Time at={row.expireTime} none={texts.noEnd} /> },
    {
      title: texts.columns.actions,
      numeric: true,
      cell: (row) => (
        <GuardedButton
          kind="quiet"
          permissions={permissions}
          permission="iam.groupMembers.delete"
          label={`${texts.groups.remove} ${row.displayName || row.name}`}
          onClick={() => setRemoving(row)}
        >
          {texts.groups.remove}
        </GuardedButton>
      ),
    },
  ];
  return (
    <>
      <Answered of={members}>
        {({ members: rows, nextPageToken }) => (
          <>
            {rows.length === 0 ? (
              <Empty title={texts.groups.noMembers} />
            ) : (
              <ManyTable
                label={texts.groups.members}
                columns={columns}
                rows={rows}
                keyOf={({ id }) => id}
                nameOf={({ displayName, name }) => displayName || name}
                copiedOf={copiedOf}
                nouns={manyTexts.nouns.member}
                permissions={permissions}
                actions={[removeAll]}
              />
            )}
            <Pager page={page} nextPage={nextPageToken} shown={rows.length} total={undefined} />
          </>
        )}
      </Answered>
      <RemovalDialog
        words={texts.groups.remove}
        said={texts.done.removed}
        removed={removing}
        onClose={() => setRemoving(undefined)}
        onPreview={async (path) => (await remove.mutateAsync({ path, etag, validateOnly: true })).accessPreview}
        onRemove={(path) => remove.mutateAsync({ path, etag })}
      />
    </>
  );
}

/** Takes several members out of a group. */
function useRemovalOfMany(group: string): ManyAction<GroupMember> {
  const remove = useMutation(GroupMembersService.method.batchDeleteGroupMembers);
  // Another member may have got the name of one meanwhile, but not its id.
  const removal = (some: readonly GroupMember[]) => ({
    parentPath: group,
    paths: some.map(({ id }) => `${group}/members/@${id}`),
    etags: some.map(({ etag }) => etag),
  });
  return {
    act: texts.groups.remove,
    done: texts.done.removed,
    kind: "danger",
    permission: "iam.groupMembers.delete",
    run: {
      together: (some) => remove.mutateAsync(removal(some)),
      preview: async (some) => (await remove.mutateAsync({ ...removal(some), validateOnly: true })).accessPreview,
    },
  };
}
