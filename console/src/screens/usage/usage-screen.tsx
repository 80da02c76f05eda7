import { useQuery } from "@connectrpc/connect-query";
import { useParams } from "@tanstack/react-router";
import { CustomersService } from "../../../../gen/iam/v1alpha/customer_pb.ts";
import type { UsageGroup } from "../../app/usage-search.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { texts } from "../../texts/texts.ts";
import { usageTexts } from "../../texts/usage-texts.ts";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Loading } from "../../ui/notes.tsx";
import { Page } from "../../ui/page.tsx";
import { Usage } from "./usage.tsx";
import { usagePermission } from "./usage-link.tsx";

/** What an org has consumed. */
export function OrgUsageScreen() {
  const { org } = useParams({ from: "/orgs/$org/usage" });
  const kind = texts.kinds.org;
  return (
    <UsageScreen path={`/orgs/${org}`} kind={kind} title={texts.nav.usage} groups={["project", "service", "type"]} />
  );
}

/** What a project has consumed. */
export function ProjectUsageScreen() {
  const { org, project } = useParams({ from: "/orgs/$org/projects/$project/usage" });
  const path = `/orgs/${org}/projects/${project}`;
  const title = usageTexts.titleOf(useDisplayNames([path])(path));
  return <UsageScreen path={path} kind={texts.kinds.project} title={title} groups={["service", "type"]} />;
}

/** What the orgs of a customer have consumed. */
export function CustomerUsageScreen() {
  const { customer: name } = useParams({ from: "/customers/$customer/usage" });
  const path = `/customers/${name}`;
  const { data } = useQuery(CustomersService.method.getCustomer, { path }, { retry: false });
  const title = usageTexts.titleOf(data?.displayName || name);
  return (
    <UsageScreen path={path} kind={texts.kinds.customer} title={title} groups={["org", "project", "service", "type"]} />
  );
}

interface UsageScreenProps {
  /** The org, project or customer. */
  readonly path: string;
  readonly kind: string;
  readonly title: string;
  /** By what amounts can be divided. */
  readonly groups: readonly UsageGroup[];
}

/** What was consumed over time, for people who may read that. */
function UsageScreen({ path, kind, title, groups }: UsageScreenProps) {
  const permissions = usePermissions(path, [usagePermission]);
  const may = permissions.may(usagePermission);
  return (
    <Page kind={kind} title={title} intro={usageTexts.intro}>
      {may === false ? (
        <GuardedButton permissions={permissions} permission={usagePermission} onClick={() => undefined}>
          {title}
        </GuardedButton>
      ) : null}
      {may === undefined ? <Loading /> : null}
      {may === true ? <Usage path={path} groups={groups} /> : null}
    </Page>
  );
}
