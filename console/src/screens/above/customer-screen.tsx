import { useQuery } from "@connectrpc/connect-query";
import { Link, useParams } from "@tanstack/react-router";
import { CustomersService, Customer_StateSchema } from "../../../../gen/iam/v1alpha/customer_pb.ts";
import { QuotasService } from "../../../../gen/iam/v1alpha/quota_pb.ts";
import { nameOf } from "../../calls/paths.ts";
import { useLiveAbove } from "../../calls/use-live-above.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { texts } from "../../texts/texts.ts";
import { Answered } from "../../ui/notes.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { ScreenOf } from "../../ui/screen-of.tsx";
import { StateBadge } from "../../ui/state-badge.tsx";
import { CustomerAccount } from "../account/customer-account.tsx";
import { OrgList, OrgStateFilter, useOrgs } from "../home/org-list.tsx";
import { QuotaUse } from "../overview/quota-use.tsx";
import { UsedLinks } from "../overview/used-links.tsx";
import { AboveTabs, AccessTab, ChangesTab, TabSearchBox } from "./above-tabs.tsx";
import { WaitingEverywhere } from "./waiting-everywhere.tsx";

/** A customer at a glance: what its orgs use, what waits, its orgs, what has changed in them, and who has access to all of them. */
export function CustomerScreen() {
  const { customer: name } = useParams({ from: "/customers/$customer" });
  const path = `/customers/${name}`;
  const customer = useQuery(CustomersService.method.getCustomer, { path });
  useLiveAbove(path);
  return (
    <ScreenOf of={customer}>
      {(data) => (
        <Page
          kind={texts.kinds.customer}
          title={data.displayName || data.name}
          intro={data.description === "" ? undefined : <bdi>{data.description}</bdi>}
          actions={
            <>
              <StateBadge of={Customer_StateSchema} value={data.state} />
              <WebhooksLink customer={data.path} />
            </>
          }
        >
          <Used path={data.path} />
          <WaitingEverywhere where={data.path} />
          <AboveTabs
            tabs={{
              orgs: <OrgsTab customer={data.path} />,
              changes: <ChangesTab parentPath={data.path} />,
              access: <AccessTab key={data.path} parentPath={data.path} />,
              account: <CustomerAccount customer={data} />,
            }}
          />
        </Page>
      )}
    </ScreenOf>
  );
}

/** Leads to the webhooks, for people who may list them. */
function WebhooksLink({ customer }: { readonly customer: string }) {
  const may = usePermissions(customer, ["iam.webhooks.list"]).may("iam.webhooks.list") === true;
  return may ? (
    <Link to="/customers/$customer/webhooks" params={{ customer: nameOf(customer) }} className="button plain">
      {texts.nav.webhooks}
    </Link>
  ) : null;
}

/** What all orgs of the customer use; nothing for people who may not read its quota. */
function Used({ path }: { readonly path: string }) {
  const enabled = usePermissions(path, ["iam.quotas.get"]).may("iam.quotas.get") === true;
  const quota = useQuery(QuotasService.method.getQuota, { parentPath: path }, { enabled, retry: false });
  if (!enabled) return null;
  return (
    <Section title={texts.overview.used} actions={<UsedLinks path={path} />}>
      <Answered of={quota}>{(data) => <QuotaUse quota={data} org={path} />}</Answered>
    </Section>
  );
}

function OrgsTab({ customer }: { readonly customer: string }) {
  const orgs = useOrgs(customer);
  return (
    <>
      <TabSearchBox label={texts.orgs.search}>
        <OrgStateFilter />
      </TabSearchBox>
      <OrgList of={orgs} parentPath={customer} />
    </>
  );
}
