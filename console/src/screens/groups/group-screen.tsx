import { useQuery } from "@connectrpc/connect-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { GroupMembersService } from "../../../../gen/iam/v1alpha/group_member_pb.ts";
import { GroupsService } from "../../../../gen/iam/v1alpha/group_pb.ts";
import { parentOf } from "../../calls/paths.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { texts } from "../../texts/texts.ts";
import { ActionButtons } from "../../ui/actions/action-buttons.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { PathFacts } from "../../ui/path-facts.tsx";
import { PathLinks } from "../../ui/path-link.tsx";
import { ScreenOf } from "../../ui/screen-of.tsx";
import { AddDialog } from "./add-dialog.tsx";
import { DirectMembers } from "./direct-members.tsx";
import { InheritedMembers } from "./inherited-members.tsx";
import { NestedGroups } from "./nested-groups.tsx";
import { groupPermissions, useGroupActions } from "./use-group-actions.ts";

const permissionsOfScreen = [
  ...groupPermissions,
  "iam.groupMembers.create",
  "iam.groupMembers.delete",
  "iam.subgroups.create",
  "iam.subgroups.delete",
];

/** One group: its own members, the groups nested in it, and the members that it has through them. */
export function GroupScreen() {
  const { org: orgName, group: name } = useParams({ from: "/orgs/$org/groups/$group" });
  const org = `/orgs/${orgName}`;
  const path = `${org}/groups/${name}`;
  const [adding, setAdding] = useState<"member" | "group">();
  const group = useQuery(GroupsService.method.getGroup, { path });
  const actions = useGroupActions();
  const permissions = usePermissions(path, permissionsOfScreen);
  return (
    <ScreenOf of={group}>
      {(data) => (
        <Page
          kind={texts.kinds.group}
          title={data.displayName || data.name}
          intro={data.description === "" ? undefined : <bdi>{data.description}</bdi>}
          actions={<ActionButtons of={data} actions={actions} permissions={permissions} />}
        >
          <Facts>
            <Outer org={org} name={data.name} />
            <PathFacts of={data} />
          </Facts>
          <Section
            title={texts.groups.members}
            actions={
              <GuardedButton
                permissions={permissions}
                permission="iam.groupMembers.create"
                onClick={() => setAdding("member")}
              >
                {texts.groups.addMember}
              </GuardedButton>
            }
          >
            <DirectMembers group={data.path} permissions={permissions} />
          </Section>
          <Section
            title={texts.groups.nested}
            actions={
              <GuardedButton
                permissions={permissions}
                permission="iam.subgroups.create"
                onClick={() => setAdding("group")}
              >
                {texts.groups.addGroup}
              </GuardedButton>
            }
          >
            <NestedGroups group={data.path} permissions={permissions} />
          </Section>
          <InheritedMembers group={data.path} />
          <AddDialog org={org} group={data.path} adding={adding} onClose={() => setAdding(undefined)} />
        </Page>
      )}
    </ScreenOf>
  );
}

/** The groups that a group is nested in: its members are theirs, too. */
function Outer({ org, name }: { readonly org: string; readonly name: string }) {
  const request = { parentPath: `${org}/groups/-`, filter: `name = ${JSON.stringify(name)}`, pageSize: 100 };
  const { data } = useQuery(GroupMembersService.method.listSubgroups, request, { retry: false });
  if (data === undefined) return null;
  const outer = data.subgroups.map(({ path }) => parentOf(path));
  return (
    <Fact title={texts.groups.nestedIn}>
      {outer.length === 0 ? <span className="quiet-text">{texts.groups.top}</span> : <PathLinks paths={outer} />}
    </Fact>
  );
}
