import { useQuery } from "@connectrpc/connect-query";
import { Link, useParams } from "@tanstack/react-router";
import type { ComponentProps, ReactNode } from "react";
import { ServicesService } from "../../../../gen/resources/v1alpha/service_pb.ts";
import { systemOrg } from "../../calls/paths.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import { useLiveOrg } from "../../calls/use-live-org.ts";
import { useOrg } from "../../calls/use-org.ts";
import { texts } from "../../texts/texts.ts";
import { Page, Section } from "../../ui/page.tsx";
import { type Above, fromPlatform, GrantsOf } from "./grants-of.tsx";

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
      links={<AccessLinks org={org} resource={path} />}
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
      links={<AccessLinks org={org} resource={path} />}
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

/** Leads to the question who may do what on an org or project, and to a request for a role on it. */
function AccessLinks({ org, resource }: { readonly org: string; readonly resource: string }) {
  return (
    <>
      <Link to="/orgs/$org/access" params={{ org }} search={{ resource }} className="button plain">
        {texts.projects.why}
      </Link>
      <Link
        to="/orgs/$org/accessRequests"
        params={{ org }}
        search={{ create: true, resource }}
        className="button plain"
      >
        {texts.requests.ask}
      </Link>
    </>
  );
}

function useAboveOrg(org: string): readonly Above[] {
  const customer = useOrg(org).org?.customerPath || undefined;
  return customer === undefined ? [] : [{ title: texts.grants.fromCustomer, from: customer }, fromPlatform];
}

interface GrantsProps extends Omit<ComponentProps<typeof GrantsOf>, "frame"> {
  readonly kind: string;
  readonly title: string;
  readonly intro: string;
  /** What leads to other screens. */
  readonly links?: ReactNode;
}

function Grants({ kind, title, intro, links, ...grants }: GrantsProps) {
  return (
    <GrantsOf
      {...grants}
      frame={({ button, search, list }) => (
        <Page
          kind={kind}
          title={title}
          intro={intro}
          actions={
            <>
              {links}
              {button}
            </>
          }
        >
          <Section title={texts.grants.here} actions={search}>
            {list}
          </Section>
        </Page>
      )}
    />
  );
}
