import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { type Org, OrgsService, Org_StateSchema } from "../../../../gen/iam/v1alpha/org_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { nameOf } from "../../calls/paths.ts";
import { ofCustomer } from "../../calls/use-choices.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { texts } from "../../texts/texts.ts";
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
import { undeleteOrg, useOrgStates } from "./use-org-states.ts";

const columns: readonly Column<Org>[] = [
  {
    title: texts.columns.name,
    orderBy: "display_name",
    cell: (org) => <PathLink path={org.path} name={org.displayName || org.name} />,
  },
  { title: texts.columns.path, wide: true, orderBy: "name", cell: (org) => <code>{org.path}</code> },
  { title: texts.columns.state, cell: (org) => <StateBadge of={Org_StateSchema} value={org.state} /> },
  { title: texts.columns.created, wide: true, orderBy: "create_time", cell: (org) => <Time at={org.createTime} /> },
];

const customerColumn: Column<Org> = {
  title: texts.kinds.customer,
  wide: true,
  cell: ({ customerPath }) => <PathLink path={customerPath} name={nameOf(customerPath)} />,
};

const stateChoices = stateChoicesOf(texts.orgs.anyState, ["ACTIVE", "SUSPENDED", "DELETED"]);

/** Narrows the list to a state, such as what is deleted. */
export function OrgStateFilter() {
  const { state = "" } = useSearch({ strict: false });
  return <SelectFilter label={texts.columns.state} name="state" value={state} choices={stateChoices} />;
}

/** The orgs that the person may list, of all customers or of one, as the words, the state and the page in the URL say. */
export function useOrgs(customer?: string) {
  const { q, page = "", order = "", state } = useSearch({ strict: false });
  const filter = toFilter(q, customer && ofCustomer(customer), state && `state = ${state}`);
  const request = { pageSize: 100, filter, pageToken: page, orderBy: order, showDeleted: state === "DELETED" };
  return useQuery(OrgsService.method.listOrgs, request, { placeholderData: keepPreviousData, retry: false });
}

interface OrgListProps {
  /** The customer whose orgs they are; empty for all. */
  readonly parentPath: string;
  readonly of: ReturnType<typeof useOrgs>;
  /** Whether customers are shown, which lead to their screens. */
  readonly withCustomers?: boolean;
}

export function OrgList({ of, parentPath, withCustomers = false }: OrgListProps) {
  const { page = "", state } = useSearch({ strict: false });
  const isDeleted = state === "DELETED";
  const permissions = usePermissions(parentPath, [undeleteOrg], isDeleted);
  const actions = useStateActions(useOrgStates());
  const shown = [
    ...columns,
    ...(withCustomers ? [customerColumn] : []),
    ...(isDeleted ? [restoreColumn(permissions, actions.of)] : []),
  ];
  return (
    <Answered of={of}>
      {({ orgs: rows, nextPageToken }) => (
        <>
          {rows.length === 0 ? (
            <Empty title={texts.orgs.noneFound} />
          ) : (
            <DataTable
              label={texts.orgs.all}
              columns={shown}
              rows={rows}
              keyOf={(org) => org.id}
              copiedOf={copiedOf}
              actionsOf={actions.of}
            />
          )}
          <Pager page={page} nextPage={nextPageToken} shown={rows.length} total={undefined} />
          {actions.dialogs}
        </>
      )}
    </Answered>
  );
}
