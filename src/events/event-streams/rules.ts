import { type EventStreamSchema, EventStream_SubjectFormat } from "../../../gen/iam/v1alpha/event_stream_pb.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { isInOrgOf } from "../../database/org-key.ts";
import { invalidField } from "../../errors/service-error.ts";
import { findUrlProblem } from "../../identity/outgoing/url-problem.ts";
import type { Sealer } from "../../identity/sealer.ts";
import { mapItems } from "../../standard-methods/batch/batch-item.ts";
import { joinedOrgColumns } from "../../standard-methods/named-fields.ts";
import type { ResourceDependencies, ResourceRules } from "../../standard-methods/rules.ts";
import { afterAll } from "../deliveries/lease.ts";
import { supportedEventTypes } from "../signals/event-types.ts";
import { requireMayDeliver } from "../webhooks/rules.ts";
import type { EventStreamRow } from "./store.ts";

export interface EventStreamDependencies {
  readonly sealer: Pick<Sealer, "seal" | "open">;
  /** The prefixes of addresses, besides public ones, to which event streams deliver: those of webhooks. */
  readonly webhookNetworks: readonly string[];
}

export type EventStreamRules = ResourceRules<"event_streams", EventStreamRow, typeof EventStreamSchema>;

type Message = Parameters<NonNullable<EventStreamRules["change"]>>[2];

/** How errors call what delivers. */
const called = "an event stream";

/** The columns with which a stream begins to try again at once. */
export const tryAtOnce = {
  attempts: 0,
  failing_since: null,
  status_code: 0,
  error: "",
  next_attempt_time: "epoch",
} as const;

export function createEventStreamRules(
  dependencies: EventStreamDependencies & Pick<ResourceDependencies, "authorHolds">,
): EventStreamRules {
  const { sealer, webhookNetworks, authorHolds } = dependencies;

  const termsOf = ({ audience, pushUrl, eventTypes, subjectFormat }: Message) => {
    requireAudience(audience);
    const problem =
      pushUrl === "" ? undefined : findUrlProblem(pushUrl, webhookNetworks, "https://gateway.example.com");
    if (problem !== undefined) throw invalidField("event_stream.push_url", problem, "url");
    requireSupported(eventTypes);
    const isComplex = subjectFormat === EventStream_SubjectFormat.COMPLEX;
    const subject_format: EventStreamRow["subject_format"] = isComplex ? "COMPLEX" : "ISS_SUB";
    return { audience, push_url: pushUrl, event_types: eventTypes, subject_format };
  };

  const seal = (id: string, { pushUrl, pushAuthorization }: Message): Buffer | null => {
    if (pushAuthorization === "") return null;
    requireAuthorization(pushUrl, pushAuthorization);
    return sealer.seal("push authorization", id, Buffer.from(pushAuthorization));
  };

  return {
    scope: { kind: "parent" },
    creation: {
      kind: "in org",
      prepare: (transaction, _parents, streams, atItem) =>
        mapItems(streams, atItem, async (stream) => {
          const terms = termsOf(stream);
          const member = await requireMayStream(transaction, authorHolds);
          const id = transaction.newId();
          const { time, revision } = transaction;
          const cursor = { cursor_time: time, cursor_revision: revision, cursor_position: afterAll };
          const state = { state: "ACTIVE", disabled_reason: null } as const;
          const columns = { id, ...terms, ...state, ...member, sealed_authorization: seal(id, stream), ...cursor };
          return { columns, joined: joinedOrgColumns(transaction) };
        }),
    },

    async change(transaction, row, stream) {
      const terms = termsOf(stream);
      const sealed_authorization = seal(row.id, stream);
      if (sealed_authorization === null && isSame(terms, row)) return {};
      const member = await requireMayStream(transaction, authorHolds);
      // What was written while it was polled, nobody has noted.
      const noted = row.push_url === "" ? { noted_time: transaction.time } : {};
      // A secret goes to no URL but the one that it was given with.
      const isKept = sealed_authorization === null && terms.push_url === row.push_url;
      return { ...terms, ...member, ...(isKept ? {} : { sealed_authorization }), ...tryAtOnce, ...noted };
    },

    // A delivery that ends meanwhile waits, and then records nothing.
    async beforeRemove({ db, org }, rows) {
      const ids = rows.map(({ id }) => id);
      const locked = db.selectFrom("event_streams").select("id").where(isInOrgOf("event_streams", org));
      await locked.where("id", "in", ids).orderBy("id").forUpdate().execute();
    },

    // It tells what has ended, and gives nobody access.
    revokes: "nothing",
  };
}

type Terms = Pick<EventStreamRow, "audience" | "push_url" | "event_types" | "subject_format">;

function isSame(one: Terms, other: Terms): boolean {
  return (
    one.audience === other.audience &&
    one.push_url === other.push_url &&
    one.subject_format === other.subject_format &&
    one.event_types.join(" ") === other.event_types.join(" ")
  );
}

/** Checks that an event stream may deliver for the author of a change. */
export const requireMayStream = (
  transaction: OrgTransaction,
  authorHolds: ResourceDependencies["authorHolds"],
): ReturnType<typeof requireMayDeliver> => requireMayDeliver(transaction, authorHolds, called);

function requireAudience(audience: string): void {
  if (audience.trim() !== "") return;
  throw invalidField("event_stream.audience", "must be what the receiver calls itself, such as its URL", "required");
}

function requireSupported(eventTypes: readonly string[]): void {
  const index = eventTypes.findIndex((type) => !supportedEventTypes.includes(type));
  if (index === -1) return;
  const rule = `must be one of ${supportedEventTypes.join(", ")}`;
  throw invalidField(`event_stream.event_types[${index}]`, rule, "event_type");
}

function requireAuthorization(pushUrl: string, authorization: string): void {
  const field = "event_stream.push_authorization";
  if (pushUrl === "") throw invalidField(field, "must be empty without a push_url", "push_url");
  // What a header can have (RFC 9110, 5.5).
  if (!/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(authorization)) {
    throw invalidField(field, "must be the value of a header, of visible ASCII characters and spaces", "header");
  }
}
