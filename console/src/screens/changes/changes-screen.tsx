import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { ChangesService, Change_TypeSchema } from "../../../../gen/iam/v1alpha/change_pb.ts";
import type { ChangesSearch } from "../../app/list-search.ts";
import { stateNames } from "../../texts/state-names.ts";
import { asOfTexts, pastTexts, rollbackTexts } from "../../texts/moment-texts.ts";
import { texts } from "../../texts/texts.ts";
import { Answered, Empty } from "../../ui/notes.tsx";
import { Page } from "../../ui/page.tsx";
import { Pager } from "../../ui/pager.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { SelectFilter } from "../../ui/select-filter.tsx";
import { ChangeTable } from "./change-table.tsx";

const typeChoices = [
  { value: "", label: texts.changes.anyType },
  ...Change_TypeSchema.values
    .filter(({ number }) => number !== 0)
    .map(({ name }) => ({ value: name, label: stateNames[name] ?? name })),
];

/** What was changed in an org, the latest first: by whom, by what, why, and what is different. */
export function ChangesScreen() {
  const { org } = useParams({ from: "/orgs/$org/changes" });
  const search = useSearch({ from: "/orgs/$org/changes" });
  const { q, state, page = "", revision } = search;
  const request = { parentPath: `/orgs/${org}`, pageSize: 50, pageToken: page, filter: filterOf(search) };
  const options = { retry: false, placeholderData: keepPreviousData };
  const changes = useQuery(ChangesService.method.listChanges, request, options);
  return (
    <Page
      title={texts.changes.title}
      intro={texts.changes.intro}
      actions={
        revision === undefined ? null : (
          <>
            <Link to="/orgs/$org/access" params={{ org }} search={{ asOf: revision }} className="button plain">
              {asOfTexts.whoMay}
            </Link>
            <Link to="/orgs/$org/past" params={{ org }} search={{ at: revision }} className="button plain">
              {pastTexts.fromLog}
            </Link>
            <Link to="/orgs/$org/rollback" params={{ org }} search={{ to: revision }} className="button plain">
              {rollbackTexts.fromLog}
            </Link>
          </>
        )
      }
    >
      <div className="filters">
        <SearchBox label={texts.changes.search} value={q ?? ""} />
        <SelectFilter label={texts.columns.what} name="state" value={state ?? ""} choices={typeChoices} />
      </div>
      <Answered of={changes}>
        {({ changes: rows, nextPageToken }) => (
          <>
            {rows.length === 0 ? (
              <Empty title={texts.changes.none} />
            ) : (
              <ChangeTable org={`/orgs/${org}`} rows={rows} />
            )}
            <Pager page={page} nextPage={nextPageToken} shown={rows.length} total={undefined} />
          </>
        )}
      </Answered>
    </Page>
  );
}

/** Words are a path of what was changed, or of who changed it after `by `. */
function filterOf({ q, state, revision }: ChangesSearch): string {
  const parts: string[] = [];
  if (q?.startsWith("by ") === true) parts.push(`actor_path = ${JSON.stringify(q.slice(3).trim())}`);
  else if (q !== undefined) parts.push(`resource_path:${JSON.stringify(q)}`);
  if (state !== undefined) parts.push(`type = ${state}`);
  if (revision !== undefined) parts.push(`revision = ${JSON.stringify(revision)}`);
  return parts.join(" AND ");
}
