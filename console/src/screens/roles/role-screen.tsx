import { useQuery } from "@connectrpc/connect-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { type Role, RolesService } from "../../../../gen/iam/v1alpha/role_pb.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { texts } from "../../texts/texts.ts";
import { GuardedActions } from "../../ui/actions/action-buttons.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { PathFacts } from "../../ui/path-facts.tsx";
import { ScreenOf } from "../../ui/screen-of.tsx";
import { PermissionList } from "./permission-list.tsx";
import { RoleHolders } from "./role-holders.tsx";
import { rolePermissions, useRoleActions } from "./use-role-actions.tsx";

/** A role of an org: what is in it, and who is granted it. */
export function RoleScreen() {
  const { org: orgName, role: name } = useParams({ from: "/orgs/$org/roles/$role" });
  const org = `/orgs/${orgName}`;
  const path = `${org}/roles/${name}`;
  const role = useQuery(RolesService.method.getRole, { path });
  return (
    <ScreenOf of={role}>
      {(data) => (
        <Page
          kind={texts.kinds.role}
          title={data.displayName || data.name}
          intro={data.description === "" ? undefined : <bdi>{data.description}</bdi>}
          actions={<RoleActions org={org} role={data} />}
        >
          <Facts>
            <PathFacts of={data} />
          </Facts>
          <Section title={texts.roles.permissions}>
            <PermissionList permissions={data.permissions} />
          </Section>
          <Section title={texts.roles.holders}>
            <RoleHolders org={org} role={data.path} />
          </Section>
        </Page>
      )}
    </ScreenOf>
  );
}

function RoleActions({ org, role }: { readonly org: string; readonly role: Role }) {
  const permissions = usePermissions(role.path, rolePermissions);
  const navigate = useNavigate();
  const { of, dialogs } = useRoleActions(org, () => navigate({ to: `${org}/roles` }));
  return (
    <>
      <GuardedActions actions={of(role)} permissions={permissions} />
      {dialogs}
    </>
  );
}

/** A predefined role, which is the same in every org. */
export function PredefinedRoleScreen() {
  const { role: name } = useParams({ from: "/roles/$role" });
  const role = useQuery(RolesService.method.getRole, { path: `/roles/${name}` });
  return (
    <ScreenOf of={role}>
      {(data) => (
        <Page kind={texts.roles.kindPredefined} title={data.displayName || data.name} intro={data.description}>
          <Section title={texts.roles.permissions}>
            <PermissionList permissions={data.permissions} />
          </Section>
        </Page>
      )}
    </ScreenOf>
  );
}
