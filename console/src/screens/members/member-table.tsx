import { type Member, Member_TypeSchema } from "../../../../gen/iam/v1alpha/member_pb.ts";
import type { Permissions } from "../../calls/use-permissions.ts";
import { manyTexts } from "../../texts/many-texts.ts";
import { wordFor } from "../../texts/state-names.ts";
import { texts } from "../../texts/texts.ts";
import { RestoreButton } from "../../ui/actions/restore-button.tsx";
import { useActions } from "../../ui/actions/use-actions.tsx";
import type { Column } from "../../ui/data-table.tsx";
import { ManyTable } from "../../ui/many/many-table.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { copiedOf } from "../../ui/row-menu.tsx";
import { Time } from "../../ui/time.tsx";
import type { Delivered } from "./invitation-note.tsx";
import { MemberState } from "./member-state.tsx";
import { SendInvitationButton } from "./send-invitation-button.tsx";
import { SuspendButton } from "./suspend-button.tsx";
import { useMemberActions } from "./use-member-actions.ts";
import { useActionsOnMany } from "./use-actions-on-many.tsx";

interface MemberTableProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  readonly label: string;
  readonly rows: readonly Member[];
  readonly permissions: Permissions;
  readonly onSent: (sent: Delivered) => void;
}

export function MemberTable({ org, label, rows, permissions, onSent }: MemberTableProps) {
  const many = useActionsOnMany(org);
  const actions = useActions(useMemberActions());
  const columns: readonly Column<Member>[] = [
    {
      title: texts.columns.name,
      orderBy: "display_name",
      cell: (row) => <PathLink path={row.path} name={row.displayName || row.name} />,
    },
    { title: texts.columns.nameInPaths, wide: true, orderBy: "name", cell: (row) => <code>{row.name}</code> },
    { title: texts.columns.type, wide: true, cell: (row) => wordFor(Member_TypeSchema, row.type) },
    { title: texts.columns.state, cell: (row) => <MemberState member={row} /> },
    { title: texts.columns.created, wide: true, orderBy: "create_time", cell: (row) => <Time at={row.createTime} /> },
    {
      title: texts.columns.actions,
      numeric: true,
      cell: (row) => (
        <>
          <SendInvitationButton member={row} permissions={permissions} onSent={onSent} />
          <SuspendButton member={row} permissions={permissions} />
          <RestoreButton name={row.displayName || row.name} actions={actions.of(row)} permissions={permissions} />
        </>
      ),
    },
  ];
  return (
    <>
      <ManyTable
        label={label}
        columns={columns}
        rows={rows}
        keyOf={(row) => row.id}
        nameOf={(row) => row.displayName || row.name}
        copiedOf={copiedOf}
        nouns={manyTexts.nouns.member}
        permissions={permissions}
        actions={many}
        actionsOf={actions.of}
      />
      {actions.dialogs}
    </>
  );
}
