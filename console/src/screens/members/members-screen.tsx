import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { MembersService } from "../../../../gen/iam/v1alpha/member_pb.ts";
import { managedBy, toFilter } from "../../app/list-search.ts";
import { useCreating } from "../../app/use-creating.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { texts } from "../../texts/texts.ts";
import { ListPage } from "../../ui/list-page.tsx";
import { ManagedNote } from "../../ui/managed-note.tsx";
import { SelectFilter, stateChoicesOf } from "../../ui/select-filter.tsx";
import { invitationTexts } from "../../texts/invitation-texts.ts";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { CreateAccountDialog } from "./create-account-dialog.tsx";
import { CreateMembersDialog } from "./create-members-dialog.tsx";
import { type Delivered, InvitationNote } from "./invitation-note.tsx";
import { InviteDialog } from "./invite-dialog.tsx";
import { MemberTable } from "./member-table.tsx";
import { memberPermissions } from "./suspend-button.tsx";
import { permissionsForMany } from "./use-actions-on-many.tsx";

const pageSize = 100;

const permissionsOfScreen = [
  "iam.members.create",
  "iam.members.invite",
  "iam.members.sendInvitation",
  "iam.members.undelete",
  ...memberPermissions,
  ...permissionsForMany,
];

const stateChoices = stateChoicesOf(texts.members.anyState, ["ACTIVE", "INVITED", "SUSPENDED", "DELETED"]);

/** The members of an org: found by words and state, created, suspended, and restored. With a type in the URL, only the programs among them. */
export function MembersScreen() {
  const { org } = useParams({ from: "/orgs/$org/members" });
  const search = useSearch({ from: "/orgs/$org/members" });
  const { q, page = "", state, type, source, order = "" } = search;
  const parentPath = `/orgs/${org}`;
  const permissions = usePermissions(parentPath, permissionsOfScreen);
  const [creating, setCreating] = useCreating(permissions, "iam.members.create");
  const [inviting, setInviting] = useState(false);
  const [invited, setInvited] = useState<Delivered>();
  const conditions = [state && `state = ${state}`, type && `type = ${type}`, managedBy(source)];
  const filter = toFilter(q, ...conditions);
  const showDeleted = state === "DELETED";
  const request = { parentPath, pageSize, pageToken: page, filter, orderBy: order, showDeleted };
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
      notes={
        <>
          <ManagedNote source={source} />
          {invited && <InvitationNote invited={invited} onDone={() => setInvited(undefined)} />}
        </>
      }
      search={search}
      filters={<SelectFilter label={texts.columns.state} name="state" value={state ?? ""} choices={stateChoices} />}
      narrowed={state !== undefined || source !== undefined}
      of={members}
      rowsOf={(found) => found.members}
      table={(rows) => (
        <MemberTable org={parentPath} label={words.title} rows={rows} permissions={permissions} onSent={setInvited} />
      )}
    >
      <Dialog org={parentPath} open={creating} onClose={() => setCreating(false)} />
      <InviteDialog org={parentPath} open={inviting} onClose={() => setInviting(false)} onInvited={setInvited} />
    </ListPage>
  );
}
