import { useQuery } from "@connectrpc/connect-query";
import { RoleBindingsService } from "../../../../gen/iam/v1alpha/role_binding_pb.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { accountTexts } from "../../texts/account-texts.ts";
import { Answered, Empty } from "../../ui/notes.tsx";
import { Section } from "../../ui/page.tsx";
import { PathLinks } from "../../ui/path-link.tsx";

/** Who may act for an org: the members and groups with the role `owner` on it. */
export function OwnersSection({ org }: { readonly org: string }) {
  const mayList = usePermissions(org, ["iam.roleBindings.list"]).may("iam.roleBindings.list");
  return (
    <Section title={accountTexts.owners}>
      <p className="quiet-text">{accountTexts.ownersIntro}</p>
      {mayList === true ? <Owners org={org} /> : null}
      {mayList === false ? <Empty title={accountTexts.ownersHidden} /> : null}
    </Section>
  );
}

function Owners({ org }: { readonly org: string }) {
  const filter = 'role_path = "/roles/owner"';
  const bindings = useQuery(RoleBindingsService.method.listRoleBindings, { parentPath: org, pageSize: 1_000, filter });
  return (
    <Answered of={bindings}>
      {({ roleBindings }) =>
        roleBindings.length === 0 ? (
          <Empty title={accountTexts.noOwners} />
        ) : (
          <p>
            <PathLinks paths={[...new Set(roleBindings.map(({ subjectPath }) => subjectPath))]} />
          </p>
        )
      }
    </Answered>
  );
}
