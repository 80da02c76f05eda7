import { useQuery } from "@connectrpc/connect-query";
import { RoleBindingsService } from "../../../../gen/iam/v1alpha/role_binding_pb.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { accountTexts } from "../../texts/account-texts.ts";
import { Answered, Empty } from "../../ui/notes.tsx";
import { Section } from "../../ui/page.tsx";
import { PathLinks } from "../../ui/path-link.tsx";

interface OwnersSectionProps {
  readonly kind: keyof typeof accountTexts.ownersIntroOf;
  /** Such as `/orgs/acme`. */
  readonly on: string;
}

/** Who may act for an org or a customer: the members and groups with the role `owner` on it. */
export function OwnersSection({ kind, on }: OwnersSectionProps) {
  const mayList = usePermissions(on, ["iam.roleBindings.list"]).may("iam.roleBindings.list");
  return (
    <Section title={accountTexts.owners}>
      <p className="quiet-text before">{accountTexts.ownersIntroOf[kind]}</p>
      {mayList === true ? <Owners on={on} /> : null}
      {mayList === false ? <Empty title={accountTexts.ownersHidden} /> : null}
    </Section>
  );
}

function Owners({ on }: Pick<OwnersSectionProps, "on">) {
  const filter = 'role_path = "/roles/owner"';
  const bindings = useQuery(RoleBindingsService.method.listRoleBindings, { parentPath: on, pageSize: 1_000, filter });
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
