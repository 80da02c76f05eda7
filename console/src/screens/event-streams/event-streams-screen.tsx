import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { EventStreamsService } from "../../../../gen/iam/v1alpha/event_stream_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { streamTexts } from "../../texts/stream-texts.ts";
import { ListPage } from "../../ui/list-page.tsx";
import { CreateStreamDialog } from "./create-stream-dialog.tsx";
import { StreamTable } from "./stream-table.tsx";

/** The event streams of an org: what state they are in, and whether their receivers accept what they get. */
export function EventStreamsScreen() {
  const { org } = useParams({ from: "/orgs/$org/eventStreams" });
  const search = useSearch({ from: "/orgs/$org/eventStreams" });
  const [creating, setCreating] = useState(false);
  const parentPath = `/orgs/${org}`;
  const permissions = usePermissions(parentPath, ["iam.eventStreams.create", "iam.eventStreams.inspect"]);
  const request = { parentPath, pageSize: 100, pageToken: search.page ?? "", filter: toFilter(search.q) };
  const options = { placeholderData: keepPreviousData };
  const streams = useQuery(EventStreamsService.method.listEventStreams, request, options);
  return (
    <ListPage
      words={streamTexts}
      permissions={permissions}
      permission="iam.eventStreams.create"
      onCreate={() => setCreating(true)}
      search={search}
      of={streams}
      rowsOf={(found) => found.eventStreams}
      table={(rows) => <StreamTable rows={rows} permissions={permissions} />}
    >
      <CreateStreamDialog org={parentPath} open={creating} onClose={() => setCreating(false)} />
    </ListPage>
  );
}
