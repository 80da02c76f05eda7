import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { AccessRequestsService } from "../../../../gen/iam/v1alpha/access_request_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { accessRequestTexts } from "../../texts/access-request-texts.ts";
import { stateNames } from "../../texts/state-names.ts";
import { texts } from "../../texts/texts.ts";
import { Button } from "../../ui/button.tsx";
import { ListPage } from "../../ui/list-page.tsx";
import { SelectFilter } from "../../ui/select-filter.tsx";
import { answerPermissions } from "./answers.tsx";
import { AskDialog } from "./ask-dialog.tsx";
import { BegunRequests } from "./begun-requests.tsx";
import { RequestTable } from "./request-table.tsx";

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
  const permissions = usePermissions(parentPath, answerPermissions);
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
      notes={page === "" ? <BegunRequests org={parentPath} permissions={permissions} /> : null}
      rowsOf={(found) => found.accessRequests}
      table={(rows) => <RequestTable permissions={permissions} rows={rows} />}
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
