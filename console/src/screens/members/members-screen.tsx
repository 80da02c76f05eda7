import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { type Member, MembersService, Member_TypeSchema } from "../../../../gen/iam/v1alpha/member_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { useCreating } from "../../app/use-creating.ts";
import { type Permissions, usePermissions } from "../../calls/use-permissions.ts";
import { stateNames, wordFor } from "../../texts/state-names.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { ListPage } from "../../ui/list-page.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { SelectFilter } from "../../ui/select-filter.tsx";
import { Time } from "../../ui/time.tsx";
import { invitationTexts } from "../../texts/invitation-texts.ts";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { CreateAccountDialog } from "./create-account-dialog.tsx";
import { CreateMembersDialog } from "./create-members-dialog.tsx";
import { type Delivered, InvitationNote } from "./invitation-note.tsx";
import { InviteDialog } from "./invite-dialog.tsx";
import { MemberState } from "./member-state.tsx";
import { SendInvitationButton } from "./send-invitation-button.tsx";
import { memberPermissions, SuspendButton } from "./suspend-button.tsx";

const pageSize = 100;

const permissionsOfScreen = [
  "iam.members.create",
  "iam.members.invite",
  "iam.members.sendInvitation",
  ...memberPermissions,
];

const stateChoices = [
  { value: "", label: texts.members.anyState },
  ...["ACTIVE", "INVITED", "SUSPENDED"].map((value) => ({ value, label: stateNames[value] ?? value })),
];

/** The members of an org: found by words and state, created, and suspended. With a type in the URL, only the programs among them. */
export function MembersScreen() {
  const { org } = useParams({ from: "/orgs/$org/members" });
  const search = useSearch({ from: "/orgs/$org/members" });
  const { q, page = "", state, type, order = "" } = search;
  const parentPath = `/orgs/${org}`;
  const permissions = usePermissions(parentPath, permissionsOfScreen);
  const [creating, setCreating] = useCreating(permissions, "iam.members.create");
  const [inviting, setInviting] = useState(false);
  const [invited, setInvited] = useState<Delivered>();
  const conditions = [state && `state = ${state}`, type && `type = ${type}`];
  const request = { parentPath, pageSize, pageToken: page, filter: toFilter(q, ...conditions), orderBy: order };
  const members = useQuery(MembersService.method.listMembers, request, { placeholderData: keepPreviousData });
  const words = type === undefined ? texts.members : texts.accounts;
  const Dialog = type === undefined ? CreateMembersDialog : CreateAccountDialog;
  return (
    <ListPage
      words={words}
      permissions={permissions}
      permission="iam.members.create"
      onCreate={() => setCreating(true)}
      links={
        type === undefined ? (
          <GuardedButton permissions={permissions} permission="iam.members.invite" onClick={() => setInviting(true)}>
            {invitationTexts.invite}
          </GuardedButton>
        ) : null
      }
      notes={invited && <InvitationNote invited={invited} onDone={() => setInvited(undefined)} />}
      search={search}
      filters={<SelectFilter label={texts.columns.state} name="state" value={state ?? ""} choices={stateChoices} />}
      narrowed={state !== undefined}
      of={members}
      rowsOf={(found) => found.members}
      table={(rows) => <MemberTable label={words.title} rows={rows} permissions={permissions} onSent={setInvited} />}
    >
      <Dialog org={parentPath} open={creating} onClose={() => setCreating(false)} />
      <InviteDialog org={parentPath} open={inviting} onClose={() => setInviting(false)} onInvited={setInvited} />
    </ListPage>
  );
}

interface MemberTableProps {
  readonly label: string;
  readonly rows: readonly Member[];
  readonly permissions: Permissions;
  readonly onSent: (sent: Delivered) => void;
}

function MemberTable({ label, rows, permissions, onSent }: MemberTableProps) {
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
        </>
      ),
    },
  ];
  return <DataTable label={label} columns={columns} rows={rows} keyOf={(row) => row.id} />;
}
