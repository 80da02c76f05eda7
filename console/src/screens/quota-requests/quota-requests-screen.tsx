import { useMutation, useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import {
  type QuotaRequest,
  QuotaRequest_State,
  QuotaRequest_StateSchema,
  QuotaRequestsService,
} from "../../../../gen/iam/v1alpha/quota_request_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { quotaRequestTexts } from "../../texts/quota-texts.ts";
import { stateNames } from "../../texts/state-names.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { ListPage } from "../../ui/list-page.tsx";
import { PathLinks } from "../../ui/path-link.tsx";
import { RemovalDialog } from "../../ui/removal-dialog.tsx";
import { SelectFilter } from "../../ui/select-filter.tsx";
import { StateBadge } from "../../ui/state-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { AskDialog } from "./ask-dialog.tsx";
import { DecideButtons, useDecisions } from "./decide-buttons.tsx";
import { LimitsInWords } from "./limits-in-words.tsx";
import { QuotaHolder } from "./quota-holder.tsx";
import { type Deciding, useDeciding } from "./use-deciding.ts";

const stateChoices = [
  { value: "", label: quotaRequestTexts.anyState },
  ...["PENDING", "APPROVED", "REJECTED"].map((value) => ({ value, label: stateNames[value] ?? value })),
];

/** Who has asked for higher limits in an org, and what was decided. */
export function QuotaRequestsScreen() {
  const { org } = useParams({ from: "/orgs/$org/quotaRequests" });
  const search = useSearch({ from: "/orgs/$org/quotaRequests" });
  const { q, page = "", state } = search;
  const parentPath = `/orgs/${org}`;
  const [asking, setAsking] = useState(false);
  const deciding = useDeciding(parentPath);
  const request = {
    parentPath,
    pageSize: 50,
    pageToken: page,
    filter: toFilter(q, state && `state = ${state}`),
    orderBy: "create_time desc",
  };
  const requests = useQuery(QuotaRequestsService.method.listQuotaRequests, request, {
    placeholderData: keepPreviousData,
  });
  return (
    <ListPage
      words={quotaRequestTexts}
      permissions={deciding.onOrg}
      permission="iam.quotaRequests.create"
      onCreate={() => setAsking(true)}
      search={search}
      filters={<SelectFilter label={texts.columns.state} name="state" value={state ?? ""} choices={stateChoices} />}
      narrowed={state !== undefined}
      of={requests}
      rowsOf={(found) => found.quotaRequests}
      table={(rows) => <Requests rows={rows} deciding={deciding} />}
    >
      <AskDialog org={parentPath} open={asking} onClose={() => setAsking(false)} />
    </ListPage>
  );
}

interface RequestsProps {
  readonly rows: readonly QuotaRequest[];
  readonly deciding: Deciding;
}

function Requests({ rows, deciding }: RequestsProps) {
  const [withdrawn, setWithdrawn] = useState<QuotaRequest>();
  const { decide, dialogs } = useDecisions();
  const remove = useMutation(QuotaRequestsService.method.deleteQuotaRequest);
  const columns: readonly Column<QuotaRequest>[] = [
    { title: quotaRequestTexts.asked, cell: (row) => <What request={row} /> },
    { title: quotaRequestTexts.quota, cell: ({ quotaPath }) => <QuotaHolder quotaPath={quotaPath} /> },
    {
      title: texts.columns.who,
      wide: true,
      cell: ({ memberPath, createTime }) => (
        <>
          {memberPath === "" ? null : <PathLinks paths={[memberPath]} />} <Time at={createTime} />
        </>
      ),
    },
    {
      title: texts.columns.state,
      cell: (row) => (
        <>
          <StateBadge of={QuotaRequest_StateSchema} value={row.state} /> <Outcome request={row} />
        </>
      ),
    },
    {
      title: texts.columns.actions,
      numeric: true,
      cell: (row) =>
        row.state !== QuotaRequest_State.PENDING ? null : (
          <span className="actions end">
            <DecideButtons request={row} deciding={deciding} decide={decide} />
            <GuardedButton
              kind="quiet"
              permissions={deciding.onOrg}
              permission="iam.quotaRequests.delete"
              label={quotaRequestTexts.withdrawOf(row.displayName || row.name)}
              onClick={() => setWithdrawn(row)}
            >
              {quotaRequestTexts.withdraw}
            </GuardedButton>
          </span>
        ),
    },
  ];
  return (
    <>
      <DataTable label={quotaRequestTexts.title} columns={columns} rows={rows} keyOf={({ id }) => id} />
      {dialogs}
      <RemovalDialog
        words={quotaRequestTexts.withdraw}
        said={texts.done.withdrawn}
        intro={quotaRequestTexts.withdrawIntro}
        removed={withdrawn}
        onClose={() => setWithdrawn(undefined)}
        onRemove={(path) => remove.mutateAsync({ path, etag: withdrawn?.etag ?? "" })}
      />
    </>
  );
}

function What({ request: { path, limits, name, displayName, description } }: { readonly request: QuotaRequest }) {
  return (
    <>
      <strong>
        <Link to={path}>
          <LimitsInWords limits={limits} />
        </Link>
      </strong>{" "}
      <span className="quiet-text">
        <bdi>{description || displayName || name}</bdi>
      </span>
    </>
  );
}

/** What was decided, by whom, and what they said. */
function Outcome({ request }: { readonly request: QuotaRequest }) {
  const { state, grantedLimits, decisionMessage, deciderPath } = request;
  if (state === QuotaRequest_State.PENDING) return null;
  return (
    <span className="quiet-text">
      {state !== QuotaRequest_State.APPROVED ? null : Object.keys(grantedLimits).length === 0 ? (
        quotaRequestTexts.nothingGranted
      ) : (
        <LimitsInWords limits={grantedLimits} />
      )}{" "}
      {deciderPath === "" ? null : (
        <>
          {texts.by} <PathLinks paths={[deciderPath]} />{" "}
        </>
      )}
      <bdi>{decisionMessage}</bdi>
    </span>
  );
}
