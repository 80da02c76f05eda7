import { useQuery } from "@connectrpc/connect-query";
import {
  type EventStream,
  EventStreamsService,
  EventStream_StateSchema,
} from "../../../../gen/iam/v1alpha/event_stream_pb.ts";
import type { Permissions } from "../../calls/use-permissions.ts";
import { deliveryTexts } from "../../texts/delivery-texts.ts";
import { streamTexts } from "../../texts/stream-texts.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { StateBadge } from "../../ui/state-badge.tsx";
import { lookingAgain } from "../deliveries/look-again.ts";
import { ReceiverState } from "./receiver-state.tsx";

interface StreamTableProps {
  readonly rows: readonly EventStream[];
  readonly permissions: Permissions;
}

export function StreamTable({ rows, permissions }: StreamTableProps) {
  const columns: readonly Column<EventStream>[] = [
    { title: texts.columns.name, cell: (row) => <PathLink path={row.path} name={row.displayName || row.name} /> },
    { title: streamTexts.how, wide: true, cell: (stream) => <How stream={stream} /> },
    { title: texts.columns.state, cell: ({ state }) => <StateBadge of={EventStream_StateSchema} value={state} /> },
    { title: streamTexts.receiver, cell: ({ path }) => <Receiver path={path} permissions={permissions} /> },
  ];
  return <DataTable label={streamTexts.title} columns={columns} rows={rows} keyOf={({ id }) => id} />;
}

/** How the events of a stream get to its receiver. */
export function How({ stream: { pushUrl } }: { readonly stream: EventStream }) {
  if (pushUrl === "") return streamTexts.poll;
  return (
    <>
      {streamTexts.push} <code>{pushUrl}</code>
    </>
  );
}

interface ReceiverProps {
  readonly path: string;
  readonly permissions: Permissions;
}

/** What a row says of the receiver; only rows near what is visible ask for it. */
function Receiver({ path, permissions }: ReceiverProps) {
  const may = permissions.may("iam.eventStreams.inspect");
  const { data } = useQuery(EventStreamsService.method.inspectEventStream, { path }, lookingAgain(may));
  if (may === false) return <span className="quiet-text">{deliveryTexts.mayNotSee}</span>;
  return data === undefined ? null : <ReceiverState delivery={data} />;
}
