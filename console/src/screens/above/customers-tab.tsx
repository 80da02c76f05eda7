import { createClient } from "@connectrpc/connect";
import { useQuery, useTransport } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import {
  type Customer,
  CustomersService,
  Customer_State,
  Customer_StateSchema,
} from "../../../../gen/iam/v1alpha/customer_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { aboveTexts } from "../../texts/above-texts.ts";
import { lifecycleTexts } from "../../texts/lifecycle-texts.ts";
import { texts } from "../../texts/texts.ts";
import { restoration } from "../../ui/actions/lifecycle-actions.ts";
import { restoreColumn } from "../../ui/actions/restore-button.tsx";
import { useStateActions } from "../../ui/actions/use-state-actions.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Answered, Empty } from "../../ui/notes.tsx";
import { Pager } from "../../ui/pager.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { copiedOf } from "../../ui/row-menu.tsx";
import { SelectFilter, stateChoicesOf } from "../../ui/select-filter.tsx";
import { StateBadge } from "../../ui/state-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { TabSearchBox } from "./above-tabs.tsx";

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

const stateChoices = stateChoicesOf(texts.orgs.anyState, ["ACTIVE", "DELETED"]);

const kind = "iam.customers";

/** The customers of the platform; with the state in the URL, those that are deleted, which are restored here. */
export function CustomersTab() {
  const { q, page = "", order = "", state } = useSearch({ strict: false });
  const isDeleted = state === "DELETED";
  const filter = toFilter(q, state && `state = ${state}`);
  const customers = useQuery(
    CustomersService.method.listCustomers,
    { pageSize: 100, filter, pageToken: page, orderBy: order, showDeleted: isDeleted },
    { placeholderData: keepPreviousData, retry: false },
  );
  const permissions = usePermissions("", [`${kind}.undelete`], isDeleted);
  const actions = useRestoring();
  return (
    <>
      <TabSearchBox label={aboveTexts.searchCustomers}>
        <SelectFilter label={texts.columns.state} name="state" value={state ?? ""} choices={stateChoices} />
      </TabSearchBox>
      <Answered of={customers}>
        {({ customers: rows, nextPageToken }) => (
          <>
            {rows.length === 0 ? (
              <Empty title={aboveTexts.noCustomers} />
            ) : (
              <DataTable
                label={aboveTexts.tabs.customers}
                columns={isDeleted ? [...columns, restoreColumn(permissions, actions.of)] : columns}
                rows={rows}
                keyOf={({ id }) => id}
                copiedOf={copiedOf}
                actionsOf={actions.of}
              />
            )}
            <Pager page={page} nextPage={nextPageToken} shown={rows.length} total={undefined} />
          </>
        )}
      </Answered>
      {actions.dialogs}
    </>
  );
}

function useRestoring() {
  const customers = createClient(CustomersService, useTransport());
  return useStateActions<Customer>([
    restoration(kind, Customer_State, lifecycleTexts.restoreCustomer, (versioned) =>
      customers.undeleteCustomer(versioned),
    ),
  ]);
}
