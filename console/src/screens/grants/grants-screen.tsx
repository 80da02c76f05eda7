import { useQuery } from "@connectrpc/connect-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { ServicesService } from "../../../../gen/resources/v1alpha/service_pb.ts";
import { systemOrg } from "../../calls/paths.ts";
import { useCustomerOf } from "../../calls/use-customer-of.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import { useLiveOrg } from "../../calls/use-live-org.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { texts } from "../../texts/texts.ts";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Empty } from "../../ui/notes.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { GrantDialog } from "./grant-dialog.tsx";
import { GrantList } from "./grant-list.tsx";
import { InheritedGrants } from "./inherited-grants.tsx";

/** Who has which role on an org, granted there or above. */
export function OrgGrantsScreen() {
  const { org } = useParams({ from: "/orgs/$org/roleBindings" });
  const path = `/orgs/${org}`;
  return (
    <Grants
      key={path}
      on={path}
      kind={texts.kinds.org}
      title={texts.grants.title}
      intro={texts.grants.intro}
      subjectsOf={path}
      above={useAboveOrg(path)}
    />
  );
}

/** Who has which role on a project, granted there or above. */
export function ProjectGrantsScreen() {
  const { org, project } = useParams({ from: "/orgs/$org/projects/$project/roleBindings" });
  const [orgPath, path] = [`/orgs/${org}`, `/orgs/${org}/projects/${project}`];
  const nameOf = useDisplayNames([path]);
  const aboveOrg = useAboveOrg(orgPath);
  return (
    <Grants
      key={path}
      on={path}
      kind={texts.kinds.project}
      title={texts.grants.titleOf(nameOf(path))}
      intro={texts.grants.intro}
      subjectsOf={orgPath}
      above={[{ title: texts.grants.fromOrg, from: orgPath }, ...aboveOrg]}
    />
  );
}

/** Who has which role on a service and its types of resources, such as its provider. */
export function ServiceGrantsScreen() {
  const { service } = useParams({ from: "/services/$service/roleBindings" });
  const path = `/services/${service}`;
  const { data } = useQuery(ServicesService.method.getService, { path }, { retry: false });
  // What is granted on services is in the log of that org.
  useLiveOrg(systemOrg);
  return (
    <Grants
      key={path}
      on={path}
      kind={texts.kinds.service}
      title={texts.grants.titleOf(data?.displayName || service)}
      intro={texts.grants.introOfService}
      subjectsOf={systemOrg}
      above={[fromPlatform]}
    />
  );
}

/** What is above, from which roles are inherited. */
interface Above {
  readonly title: string;
  /** Its path; empty for the platform. */
  readonly from: string;
}

const fromPlatform: Above = { title: texts.grants.fromPlatform, from: "" };

function useAboveOrg(org: string): readonly Above[] {
  const customer = useCustomerOf(org);
  return customer === undefined ? [] : [{ title: texts.grants.fromCustomer, from: customer }, fromPlatform];
}

interface GrantsProps {
  readonly on: string;
  readonly kind: string;
  readonly title: string;
  readonly intro: string;
  /** The org whose members and groups can get a role. */
  readonly subjectsOf: string;
  readonly above: readonly Above[];
}

function Grants({ on, kind, title, intro, subjectsOf, above }: GrantsProps) {
  const { q, page = "" } = useSearch({ strict: false });
  const [granting, setGranting] = useState(false);
  const permissions = usePermissions(on, [
    "iam.roleBindings.list",
    "iam.roleBindings.create",
    "iam.roleBindings.delete",
  ]);
  // What is refused is in a log, so nothing is asked before this is known.
  const mayList = permissions.may("iam.roleBindings.list");
  return (
    <Page
      kind={kind}
      title={title}
      intro={intro}
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
        {mayList === true ? (
          <GrantList parentPath={on} words={q} page={page} permissions={permissions} />
        ) : mayList === false ? (
          <Empty title={texts.grants.hidden} />
        ) : null}
      </Section>
      {above.map(({ title: words, from }) => (
        <InheritedGrants key={from} title={words} from={from} />
      ))}
      <GrantDialog on={on} subjectsOf={subjectsOf} open={granting} onClose={() => setGranting(false)} />
    </Page>
  );
}
