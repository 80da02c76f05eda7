import { useQuery } from "@connectrpc/connect-query";
import { Link, useParams } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { CustomersService } from "../../../../gen/iam/v1alpha/customer_pb.ts";
import { OrgsService, Org_State, Org_StateSchema } from "../../../../gen/iam/v1alpha/org_pb.ts";
import { QuotasService } from "../../../../gen/iam/v1alpha/quota_pb.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { lifecycleTexts } from "../../texts/lifecycle-texts.ts";
import { texts } from "../../texts/texts.ts";
import { StateNote } from "../../ui/deletion-facts.tsx";
import { Answered } from "../../ui/notes.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { ScreenOf } from "../../ui/screen-of.tsx";
import { StateBadge } from "../../ui/state-badge.tsx";
import { FirstSteps } from "./first-steps.tsx";
import { QuotaUse } from "./quota-use.tsx";
import { RecentChanges } from "./recent-changes.tsx";
import { UsedLinks } from "./used-links.tsx";
import { WaitingAccess } from "./waiting-access.tsx";
import { WaitingRequests } from "./waiting-requests.tsx";

/** The texts of these are not of the first page. */
const Approvals = lazy(async () => ({ default: (await import("./approvals.tsx")).Approvals }));
const SupportAccess = lazy(async () => ({ default: (await import("./support-access.tsx")).SupportAccess }));

/** An org at a glance: what is used, what waits, what has changed. */
export function OverviewScreen() {
  const { org: name } = useParams({ from: "/orgs/$org/" });
  const path = `/orgs/${name}`;
  const org = useQuery(OrgsService.method.getOrg, { path });
  return (
    <ScreenOf of={org}>
      {(found) => (
        <Page
          kind={texts.kinds.org}
          title={found.displayName || name}
          intro={found.description === "" ? undefined : <bdi>{found.description}</bdi>}
          actions={
            <>
              <StateBadge of={Org_StateSchema} value={found.state} />
              <CustomerLink path={found.customerPath} />
            </>
          }
        >
          {found.state === Org_State.SUSPENDED ? (
            <StateNote>{lifecycleTexts.orgIsSuspended}</StateNote>
          ) : (
            <FirstSteps org={name} />
          )}
          <Used path={path} />
          <WaitingAccess org={path} />
          <WaitingRequests org={path} />
          <RecentChanges org={path} />
          <Suspense fallback={null}>
            <Approvals org={found} />
            <SupportAccess org={found} />
          </Suspense>
        </Page>
      )}
    </ScreenOf>
  );
}

/** Leads to the customer of an org, for people who may read that. */
function CustomerLink({ path }: { readonly path: string }) {
  const enabled = usePermissions(path, ["iam.customers.get"], path !== "").may("iam.customers.get") === true;
  const { data } = useQuery(CustomersService.method.getCustomer, { path }, { enabled, retry: false });
  if (data === undefined) return null;
  return (
    <Link to="/customers/$customer" params={{ customer: data.name }} className="button plain">
      {texts.kinds.customer} <bdi>{data.displayName || data.name}</bdi>
    </Link>
  );
}

function Used({ path }: { readonly path: string }) {
  const quota = useQuery(QuotasService.method.getQuota, { parentPath: path }, { retry: false });
  return (
    <Section title={texts.overview.used} actions={<UsedLinks path={path} />}>
      <Answered of={quota}>{(data) => <QuotaUse quota={data} org={path} />}</Answered>
    </Section>
  );
}
