import { EventStreamSchema, EventStreamsService } from "../../../gen/iam/v1alpha/event_stream_pb.ts";
import { enumerated, text } from "../../filters/filter-fields.ts";
import { orgDefinition } from "../../iam/orgs/definition.ts";
import { orgById } from "../../paths/format-path.ts";
import { defineResource, levelOf, placeBelow } from "../../standard-methods/definition/definition.ts";
import { eventStreamPath, toEventStream } from "./message.ts";
import { eventStreamColumns, selectEventStreams, unreadEventStreamColumns } from "./store.ts";

export const eventStreamDefinition = defineResource({
  type: "EventStream",
  service: EventStreamsService,
  schema: EventStreamSchema,
  label: { one: "event stream", many: "event streams" },
  places: [placeBelow("EventStream", orgDefinition, "org_id")],
  storage: {
    table: "event_streams",
    key: ["org_id", "id"],
    id: "id",
    columns: eventStreamColumns,
    unread: unreadEventStreamColumns,
    select: selectEventStreams,
    called: levelOf("event_streams", false),
    references: [{ column: "org_id", to: "Org", onDelete: "cascade" }],
    countedBy: "org_id",
    labels: "indexed",
    nameConstraints: ["event_streams_name_key"],
  },
  toMessage: toEventStream,
  pathOf: eventStreamPath,
  logged: { joinedById: orgById },
  fields: {
    audience: text("event_streams.audience", { searched: true }),
    push_url: text("event_streams.push_url", { searched: true }),
    subject_format: enumerated("event_streams.subject_format", ["ISS_SUB", "COMPLEX"]),
    state: enumerated("event_streams.state", ["ACTIVE", "PAUSED", "DISABLED"]),
  },
  lifecycle: undefined,
  limit: {
    variable: "TENANTRY_MAX_EVENT_STREAMS_PER_ORG",
    default: 20,
    max: 1_000,
    help: "How many event streams an org may have.",
  },
  responses: { revalidatedBy: ["org of the path"] },
  access: { namedIn: "unnamed", heldBy: {}, notByAdmin: [] },
});
