import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import {
  type AccessRequest,
  AccessRequest_StateSchema,
  AccessRequestsService,
} from "../../../../gen/iam/v1alpha/access_request_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { accessRequestTexts } from "../../texts/access-request-texts.ts";
import { stateNames } from "../../texts/state-names.ts";
import { texts } from "../../texts/texts.ts";
import { Button } from "../../ui/button.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { ListPage } from "../../ui/list-page.tsx";
import { PathLinks } from "../../ui/path-link.tsx";
import { SelectFilter } from "../../ui/select-filter.tsx";
import { StateBadge } from "../../ui/state-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { AnswerButtons, useAnswers } from "./answers.tsx";
import { AskDialog } from "./ask-dialog.tsx";

const stateChoices = [
  { value: "", label: accessRequestTexts.anyState },
  ...["PENDING", "APPROVED", "DECLINED", "CANCELLED", "EXPIRED", "ENDED"].map((value) => ({
    value,
    label: stateNames[value] ?? value,
  })),
];

/** Who has asked for access in an org, and what was decided: the person's own requests, and those that it may decide about. */
export function AccessRequestsScreen() {
  const { org } = useParams({ from: "/orgs/$org/accessRequests" });
  const search = useSearch({ from: "/orgs/$org/accessRequests" });
  const navigate = useNavigate({ from: "/orgs/$org/accessRequests" });
  const { q, page = "", state, create, role, resource } = search;
  const parentPath = `/orgs/${org}`;
  const filter = toFilter(q, state && `state = ${state}`);
  const request = { parentPath, pageSize: 50, pageToken: page, filter, orderBy: "create_time desc" };
  const requests = useQuery(AccessRequestsService.method.listAccessRequests, request, {
    placeholderData: keepPreviousData,
  });
  // The URL says what is asked for, so that others can lead here.
  const open = (isOpen: boolean) =>
    navigate({ search: { q, state, create: isOpen ? true : undefined }, replace: !isOpen });
  return (
    <ListPage
      words={accessRequestTexts}
      links={
        <Button kind="primary" onClick={() => void open(true)}>
          {accessRequestTexts.create}
        </Button>
      }
      search={search}
      filters={<SelectFilter label={texts.columns.state} name="state" value={state ?? ""} choices={stateChoices} />}
      narrowed={state !== undefined}
      of={requests}
      rowsOf={(found) => found.accessRequests}
      table={(rows) => <Requests rows={rows} />}
    >
      <AskDialog
        key={`${role} ${resource}`}
        org={parentPath}
        preset={{ role, resource }}
        open={create === true}
        onClose={() => void open(false)}
      />
    </ListPage>
  );
}

function Requests({ rows }: { readonly rows: readonly AccessRequest[] }) {
  const { answer, dialogs } = useAnswers();
  const columns: readonly Column<AccessRequest>[] = [
    { title: accessRequestTexts.role, cell: (row) => <What request={row} /> },
    {
      title: texts.columns.who,
      cell: ({ memberPath, createTime }) => (
        <>
          <PathLinks paths={[memberPath]} /> <Time at={createTime} />
        </>
      ),
    },
    {
      title: texts.columns.state,
      wide: true,
      cell: (row) => (
        <>
          <StateBadge of={AccessRequest_StateSchema} value={row.state} /> <Outcome request={row} />
        </>
      ),
    },
    {
      title: texts.columns.actions,
      numeric: true,
      cell: (row) => (
        <span className="actions end">
          <AnswerButtons request={row} answer={answer} />
        </span>
      ),
    },
  ];
  return (
    <>
      <DataTable label={accessRequestTexts.title} columns={columns} rows={rows} keyOf={({ id }) => id} />
      {dialogs}
    </>
  );
}

function What({ request: { rolePath, resourcePath, expireTime, reason } }: { readonly request: AccessRequest }) {
  return (
    <>
      <strong>
        <PathLinks paths={[rolePath]} />
      </strong>{" "}
      {accessRequestTexts.on} <PathLinks paths={[resourcePath]} /> {accessRequestTexts.untilWhen}{" "}
      <Time at={expireTime} />{" "}
      <span className="quiet-text">
        <bdi>{reason}</bdi>
      </span>
    </>
  );
}

/** Who decided and what they said, and who ended it. */
function Outcome({ request: { decision, enderPath, endTime } }: { readonly request: AccessRequest }) {
  return (
    <span className="quiet-text">
      {decision === undefined ? null : (
        <>
          {decision.approved ? accessRequestTexts.approved : accessRequestTexts.declined}{" "}
          <PathLinks paths={[decision.deciderPath]} /> <bdi>{decision.message}</bdi>{" "}
        </>
      )}
      {enderPath === "" ? null : (
        <>
          {accessRequestTexts.endedBy} <PathLinks paths={[enderPath]} /> <Time at={endTime} />
        </>
      )}
    </span>
  );
}
