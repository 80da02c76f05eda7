import { Tabs } from "@base-ui/react/tabs";
import { useQuery } from "@connectrpc/connect-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { type Member, MembersService, Member_TypeSchema } from "../../../../gen/iam/v1alpha/member_pb.ts";
import { useState } from "react";
import { usePermissions } from "../../calls/use-permissions.ts";
import { wordFor } from "../../texts/state-names.ts";
import { invitationTexts } from "../../texts/invitation-texts.ts";
import { lifecycleTexts } from "../../texts/lifecycle-texts.ts";
import { texts } from "../../texts/texts.ts";
import { ActionButtons } from "../../ui/actions/action-buttons.tsx";
import { DeletionFacts, StateNote } from "../../ui/deletion-facts.tsx";
import { Page } from "../../ui/page.tsx";
import { PathFacts } from "../../ui/path-facts.tsx";
import { ScreenOf } from "../../ui/screen-of.tsx";
import { Time } from "../../ui/time.tsx";
import { type Delivered, InvitationNote } from "../members/invitation-note.tsx";
import { MemberState } from "../members/member-state.tsx";
import { SendInvitationButton } from "../members/send-invitation-button.tsx";
import { memberPermissions, SuspendButton } from "../members/suspend-button.tsx";
import { permissionsOfActions, useMemberActions } from "../members/use-member-actions.ts";
import { MemberGroups } from "./member-groups.tsx";
import { historyPermission, MemberHistory } from "./member-history.tsx";
import { MemberIdentities } from "./member-identities.tsx";
import { MemberKeys } from "./member-keys.tsx";
import { MemberRoles } from "./member-roles.tsx";
import { MemberSessions } from "./member-sessions.tsx";

const permissionsOfScreen = [
  ...memberPermissions,
  ...permissionsOfActions,
  "iam.members.sendInvitation",
  "iam.apiKeys.create",
  "iam.apiKeys.rotate",
  "iam.apiKeys.delete",
  "iam.sessions.delete",
  "iam.identities.create",
  "iam.identities.delete",
  historyPermission,
];

/** One member: what it belongs to, what it may do and where from, and what can act as it. */
export function MemberScreen() {
  const { org, member: name } = useParams({ from: "/orgs/$org/members/$member" });
  const path = `/orgs/${org}/members/${name}`;
  const member = useQuery(MembersService.method.getMember, { path });
  const permissions = usePermissions(path, permissionsOfScreen);
  const actions = useMemberActions();
  const [sent, setSent] = useState<Delivered>();
  return (
    <ScreenOf of={member}>
      {(data) => (
        <Page
          kind={wordFor(Member_TypeSchema, data.type)}
          title={data.displayName || data.name}
          intro={data.description === "" ? undefined : <bdi>{data.description}</bdi>}
          actions={
            <>
              <Link to="/orgs/$org/access" params={{ org }} search={{ subject: data.path }} className="button plain">
                {texts.member.why}
              </Link>
              <SendInvitationButton member={data} permissions={permissions} onSent={setSent} />
              <SuspendButton member={data} permissions={permissions} />
              <ActionButtons of={data} actions={actions} permissions={permissions} />
            </>
          }
        >
          {sent && <InvitationNote invited={sent} onDone={() => setSent(undefined)} />}
          {actions.isDeleted(data) ? <StateNote>{lifecycleTexts.memberIsDeleted}</StateNote> : null}
          <Facts member={data} />
          {actions.isDeleted(data) ? null : <MemberTabs path={data.path} permissions={permissions} />}
        </Page>
      )}
    </ScreenOf>
  );
}

function Facts({ member }: { readonly member: Member }) {
  return (
    <dl className="facts">
      <dt>{texts.columns.state}</dt>
      <dd>
        <MemberState member={member} />
      </dd>
      {member.email === "" ? null : (
        <>
          <dt>{invitationTexts.email}</dt>
          <dd>
            <bdi translate="no">{member.email}</bdi>
          </dd>
        </>
      )}
      <PathFacts of={member} />
      <dt>{texts.columns.created}</dt>
      <dd>
        <Time at={member.createTime} />
      </dd>
      <DeletionFacts of={member} />
    </dl>
  );
}

const tabs = {
  groups: MemberGroups,
  roles: MemberRoles,
  sessions: MemberSessions,
  keys: MemberKeys,
  identities: MemberIdentities,
  history: MemberHistory,
};

type TabName = keyof typeof tabs;

const tabNames: readonly TabName[] = ["groups", "roles", "sessions", "keys", "identities", "history"];

function MemberTabs(props: { readonly path: string; readonly permissions: ReturnType<typeof usePermissions> }) {
  const { tab } = useSearch({ from: "/orgs/$org/members/$member" });
  const navigate = useNavigate({ from: "/orgs/$org/members/$member" });
  const current = tabNames.find((name) => name === tab) ?? "groups";
  return (
    <Tabs.Root
      value={current}
      onValueChange={(value: TabName) => void navigate({ search: { tab: value }, replace: true })}
    >
      <Tabs.List className="tabs">
        {tabNames.map((name) => (
          <Tabs.Tab key={name} value={name} className="tab">
            {texts.member.tabs[name]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabNames.map((name) => {
        const Content = tabs[name];
        return (
          <Tabs.Panel key={name} value={name} className="panel">
            <Content {...props} />
          </Tabs.Panel>
        );
      })}
    </Tabs.Root>
  );
}
