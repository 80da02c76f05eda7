import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { OrgsService } from "../../../../gen/iam/v1alpha/org_pb.ts";
import { useParams, useSearch } from "@tanstack/react-router";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { texts } from "../../texts/texts.ts";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { GrantDialog } from "./grant-dialog.tsx";
import { GrantList } from "./grant-list.tsx";

/** Who has which role on an org. */
export function OrgGrantsScreen() {
  const { org } = useParams({ from: "/orgs/$org/roleBindings" });
  return <Grants org={`/orgs/${org}`} on={`/orgs/${org}`} />;
}

/** Who has which role on a project, granted there or above. */
export function ProjectGrantsScreen() {
  const { org, project } = useParams({ from: "/orgs/$org/projects/$project/roleBindings" });
  return <Grants org={`/orgs/${org}`} on={`/orgs/${org}/projects/${project}`} />;
}

interface GrantsProps {
  readonly org: string;
  /** The org itself, or one of its projects. */
  readonly on: string;
}

function Grants({ org, on }: GrantsProps) {
  const { q, page = "" } = useSearch({ strict: false });
  const [granting, setGranting] = useState(false);
  const permissions = usePermissions(on, ["iam.roleBindings.create", "iam.roleBindings.delete"]);
  const nameOf = useDisplayNames([on]);
  const customer = useQuery(OrgsService.method.getOrg, { path: org }, { retry: false }).data?.customerPath;
  return (
    <Page
      kind={on === org ? texts.kinds.org : texts.kinds.project}
      title={on === org ? texts.grants.title : texts.grants.titleOf(nameOf(on))}
      intro={texts.grants.intro}
      actions={
        <GuardedButton
          kind="primary"
          permissions={permissions}
          permission="iam.roleBindings.create"
          onClick={() => setGranting(true)}
        >
          {texts.grants.create}
        </GuardedButton>
      }
    >
      <Section title={texts.grants.here} actions={<SearchBox label={texts.grants.search} value={q ?? ""} />}>
        <GrantList parentPath={on} words={q} page={page} permissions={permissions} />
      </Section>
      {on === org ? null : (
        <Section title={texts.grants.fromOrg}>
          <GrantList parentPath={org} />
        </Section>
      )}
      {customer === undefined ? null : <FromCustomer customer={customer} />}
      <GrantDialog org={org} on={on} open={granting} onClose={() => setGranting(false)} />
    </Page>
  );
}

/** What is granted on the customer, for people who may see that. */
function FromCustomer({ customer }: { readonly customer: string }) {
  const permissions = usePermissions(customer, ["iam.roleBindings.list"]);
  if (permissions.may("iam.roleBindings.list") !== true) return null;
  return (
    <Section title={texts.grants.fromCustomer}>
      <GrantList parentPath={customer} />
    </Section>
  );
}
