import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { type Customer, CustomersService, Customer_StateSchema } from "../../../../gen/iam/v1alpha/customer_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { useLiveAbove } from "../../calls/use-live-above.ts";
import { aboveTexts } from "../../texts/above-texts.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Answered, Empty } from "../../ui/notes.tsx";
import { Page } from "../../ui/page.tsx";
import { Pager } from "../../ui/pager.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { StateBadge } from "../../ui/state-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { OrgList, useOrgs } from "../home/org-list.tsx";
import { AboveTabs, AccessTab, ChangesTab, TabSearchBox } from "./above-tabs.tsx";
import { WaitingEverywhere } from "./waiting-everywhere.tsx";

/** The platform at a glance: what waits, all orgs and customers, what has changed in them, and who operates the platform. */
export function PlatformScreen() {
  useLiveAbove("");
  return (
    <Page title={texts.platform} intro={aboveTexts.platformIntro}>
      <WaitingEverywhere where="" />
      <AboveTabs
        tabs={{
          orgs: <OrgsTab />,
          customers: <CustomersTab />,
          changes: <ChangesTab parentPath="" />,
          access: <AccessTab parentPath="" />,
        }}
      />
    </Page>
  );
}

function OrgsTab() {
  const orgs = useOrgs();
  return (
    <>
      <TabSearchBox label={texts.orgs.search} />
      <OrgList of={orgs} withCustomers />
    </>
  );
}

const columns: readonly Column<Customer>[] = [
  {
    title: texts.columns.name,
    orderBy: "display_name",
    cell: (row) => <PathLink path={row.path} name={row.displayName || row.name} />,
  },
  { title: texts.columns.path, wide: true, orderBy: "name", cell: (row) => <code>{row.path}</code> },
  { title: texts.columns.state, cell: (row) => <StateBadge of={Customer_StateSchema} value={row.state} /> },
  { title: texts.columns.created, wide: true, orderBy: "create_time", cell: (row) => <Time at={row.createTime} /> },
];

function CustomersTab() {
  const { q, page = "", order = "" } = useSearch({ strict: false });
  const request = { pageSize: 100, filter: toFilter(q), pageToken: page, orderBy: order };
  const customers = useQuery(CustomersService.method.listCustomers, request, {
    placeholderData: keepPreviousData,
    retry: false,
  });
  return (
    <>
      <TabSearchBox label={aboveTexts.searchCustomers} />
      <Answered of={customers}>
        {({ customers: rows, nextPageToken }) => (
          <>
            {rows.length === 0 ? (
              <Empty title={aboveTexts.noCustomers} />
            ) : (
              <DataTable label={aboveTexts.tabs.customers} columns={columns} rows={rows} keyOf={({ id }) => id} />
            )}
            <Pager page={page} nextPage={nextPageToken} shown={rows.length} total={undefined} />
          </>
        )}
      </Answered>
    </>
  );
}
