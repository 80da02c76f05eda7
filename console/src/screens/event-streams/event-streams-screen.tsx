import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { EventStreamsService } from "../../../../gen/iam/v1alpha/event_stream_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { streamTexts } from "../../texts/stream-texts.ts";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Answered, Empty } from "../../ui/notes.tsx";
import { Page } from "../../ui/page.tsx";
import { Pager } from "../../ui/pager.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { CreateStreamDialog } from "./create-stream-dialog.tsx";
import { StreamTable } from "./stream-table.tsx";

/** The event streams of an org: what state they are in, and whether their receivers accept what they get. */
export function EventStreamsScreen() {
  const { org } = useParams({ from: "/orgs/$org/eventStreams" });
  const { q, page = "" } = useSearch({ from: "/orgs/$org/eventStreams" });
  const [creating, setCreating] = useState(false);
  const parentPath = `/orgs/${org}`;
  const permissions = usePermissions(parentPath, ["iam.eventStreams.create", "iam.eventStreams.inspect"]);
  const request = { parentPath, pageSize: 100, pageToken: page, filter: toFilter(q) };
  const options = { placeholderData: keepPreviousData };
  const streams = useQuery(EventStreamsService.method.listEventStreams, request, options);
  return (
    <Page
      title={streamTexts.title}
      intro={streamTexts.intro}
      actions={
        <GuardedButton
          kind="primary"
          permissions={permissions}
          permission="iam.eventStreams.create"
          onClick={() => setCreating(true)}
        >
          {streamTexts.create}
        </GuardedButton>
      }
    >
      <div className="filters">
        <SearchBox label={streamTexts.search} value={q ?? ""} />
      </div>
      <Answered of={streams}>
        {({ eventStreams: rows, nextPageToken, totalSize }) => (
          <>
            {rows.length === 0 ? (
              <NoStreams filtered={q !== undefined} />
            ) : (
              <StreamTable rows={rows} permissions={permissions} />
            )}
            <Pager page={page} nextPage={nextPageToken} shown={rows.length} total={totalSize} />
          </>
        )}
      </Answered>
      <CreateStreamDialog org={parentPath} open={creating} onClose={() => setCreating(false)} />
    </Page>
  );
}

function NoStreams({ filtered }: { readonly filtered: boolean }) {
  if (filtered) return <Empty title={streamTexts.noneFound} />;
  return (
    <Empty title={streamTexts.none}>
      <p>{streamTexts.noneHint}</p>
    </Empty>
  );
}
