import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { ChangesService } from "../../../../gen/iam/v1alpha/change_pb.ts";
import { type PastShow, toFilter } from "../../app/list-search.ts";
import { asOfNames, momentProblem, readMoment, timeIn } from "../../calls/moment.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { asOfTexts, pastTexts, rollbackTexts } from "../../texts/moment-texts.ts";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { MomentForm } from "../../ui/moment-form.tsx";
import { Answered, Empty, Loading } from "../../ui/notes.tsx";
import { Page } from "../../ui/page.tsx";
import { Pager } from "../../ui/pager.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { SelectFilter } from "../../ui/select-filter.tsx";
import { pastViews } from "./past-views.tsx";
import { TimeSlider } from "./time-slider.tsx";

const permission = "iam.changes.list";
const ofOrg: readonly PastShow[] = ["members", "groups", "projects", "roles", "roleBindings"];

/** What an org had at a moment that the URL holds, for people who may read its log. */
export function PastScreen() {
  const { org } = useParams({ from: "/orgs/$org/past" });
  const { at, show = "members", within = "" } = useSearch({ from: "/orgs/$org/past" });
  const permissions = usePermissions(`/orgs/${org}`, [permission]);
  const may = permissions.may(permission);
  return (
    <Page
      title={pastTexts.title}
      intro={pastTexts.intro}
      actions={
        at === undefined ? null : (
          <>
            <Link to="/orgs/$org/access" params={{ org }} search={{ asOf: at }} className="button plain">
              {asOfTexts.whoMay}
            </Link>
            <Link to="/orgs/$org/rollback" params={{ org }} search={{ to: at }} className="button plain">
              {rollbackTexts.fromLog}
            </Link>
          </>
        )
      }
    >
      {may === false ? (
        <GuardedButton permissions={permissions} permission={permission} onClick={() => undefined}>
          {pastTexts.title}
        </GuardedButton>
      ) : null}
      {may === undefined ? <Loading /> : null}
      {may === true ? <Past key={`${show} ${within}`} path={`/orgs/${org}`} show={show} within={within} /> : null}
    </Page>
  );
}

interface PastProps {
  readonly path: string;
  readonly show: PastShow;
  readonly within: string;
}

function Past({ path, show, within }: PastProps) {
  const { at, q, page = "" } = useSearch({ from: "/orgs/$org/past" });
  const navigate = useNavigate({ from: "/orgs/$org/past" });
  const view = pastViews[show];
  const { time, revision } = readMoment(at);
  const request = {
    parentPath: path + view.below(within),
    pageSize: 100,
    pageToken: page,
    filter: toFilter(q),
    ...(time !== undefined && { asOfTime: time }),
    ...(revision !== undefined && { asOfRevision: revision }),
  };
  const list = useQuery(view.method, request as never, { retry: false });
  const oldest = useOldest(path);
  // The form shows it again when it gets another object.
  const problem = useMemo(
    () => (at === undefined || list.error === null ? undefined : momentProblem(list.error, at, asOfNames)),
    [list.error, at],
  );
  const look = (moment: string | undefined): void =>
    void navigate({ search: (before) => ({ ...before, at: moment, page: undefined }) });
  return (
    <>
      {oldest === undefined ? null : (
        <TimeSlider
          oldest={oldest}
          at={at === undefined ? undefined : timeIn(at)}
          other={revision}
          onChoose={(moment) => look(moment?.toISOString())}
        />
      )}
      <MomentForm
        label={pastTexts.when}
        names={asOfNames}
        timeLabel={asOfTexts.time}
        revisionLabel={asOfTexts.revision}
        asked={at}
        problem={problem}
        submit={asOfTexts.ask}
        onAsk={look}
      />
      <Filters show={show} q={q} />
      {problem === undefined ? (
        <Answered of={list}>
          {(answer) => {
            const { rows, nextPageToken, table } = view.show(answer);
            return (
              <>
                {rows === 0 ? <Empty title={q === undefined ? pastTexts.none : pastTexts.noneFound} /> : table}
                <Pager page={page} nextPage={nextPageToken} shown={rows} total={undefined} />
              </>
            );
          }}
        </Answered>
      ) : null}
    </>
  );
}

function Filters({ show, q }: { readonly show: PastShow; readonly q: string | undefined }) {
  const isInside = !ofOrg.includes(show);
  const choices = [...ofOrg, ...(isInside ? [show] : [])].map((value) => ({ value, label: pastViews[value].label }));
  return (
    <div className="filters">
      <SearchBox label={pastTexts.search} value={q ?? ""} />
      <SelectFilter label={pastTexts.show} name="show" value={show} choices={choices} />
    </div>
  );
}

/** Returns the time of the earliest change that the log has, in milliseconds; undefined until it is known. */
function useOldest(parentPath: string): number | undefined {
  const request = { parentPath, pageSize: 1, orderBy: "time" };
  const { data } = useQuery(ChangesService.method.listChanges, request, { retry: false });
  const time = data?.changes[0]?.time;
  // A Date has no microseconds, and before the change there was nothing.
  return time === undefined ? undefined : timestampDate(time).getTime() + 1;
}
