import {
  type EventStream,
  type EventStreamDelivery,
  EventStream_DisabledReasonSchema,
  EventStream_StateSchema,
  EventStream_SubjectFormatSchema,
} from "../../../../gen/iam/v1alpha/event_stream_pb.ts";
import { parentOf } from "../../calls/paths.ts";
import { deliveryTexts } from "../../texts/delivery-texts.ts";
import { streamTexts } from "../../texts/stream-texts.ts";
import { texts } from "../../texts/texts.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { nameIn, wordIn } from "../../texts/enum-words.ts";
import { StateBadge } from "../../ui/state-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { DeliveredUpTo } from "../deliveries/delivered-up-to.tsx";
import { DeliversFor } from "../deliveries/delivers-for.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { PathFacts } from "../../ui/path-facts.tsx";
import { ReceiverState } from "../event-streams/receiver-state.tsx";
import { How } from "../event-streams/stream-table.tsx";

interface StreamFactsProps {
  readonly stream: EventStream;
  /** Undefined while the service has not said, and for people who may not see it. */
  readonly delivery: EventStreamDelivery | undefined;
  /** Whether the person may read the log. */
  readonly mayRead: boolean;
}

/** What an event stream is, how its receiver gets the events, and how far it has come. */
export function StreamFacts({ stream, delivery, mayRead }: StreamFactsProps) {
  return (
    <Facts>
      <Fact title={texts.columns.state}>
        <StateBadge of={EventStream_StateSchema} value={stream.state} />{" "}
        {deliveryTexts.disabled[nameIn(EventStream_DisabledReasonSchema, stream.disabledReason)]}
      </Fact>
      {delivery === undefined ? null : <Progress org={parentOf(stream.path)} delivery={delivery} mayRead={mayRead} />}
      <Fact title={streamTexts.audience}>
        <code>{stream.audience}</code>
      </Fact>
      <Fact title={streamTexts.how}>
        {stream.pushUrl === "" ? <PollAt path={stream.path} /> : <How stream={stream} />}
      </Fact>
      <Fact title={streamTexts.events}>
        {stream.eventTypes.length === 0
          ? streamTexts.allEvents
          : stream.eventTypes.map((type) => streamTexts.eventTypeWords[type] ?? type).join(", ")}
      </Fact>
      <Fact title={streamTexts.subjects}>
        {wordIn(streamTexts.subjectFormats, EventStream_SubjectFormatSchema, stream.subjectFormat)}
      </Fact>
      <Fact title={deliveryTexts.deliversFor}>
        <DeliversFor memberPath={stream.memberPath} />
      </Fact>
      <PathFacts of={stream} />
      <Fact title={texts.columns.created}>
        <Time at={stream.createTime} />
      </Fact>
    </Facts>
  );
}

/** What the receiver of a stream does that is polled. */
function PollAt({ path }: { readonly path: string }) {
  const address = `${location.origin}/iam/v1alpha${path}:poll`;
  return (
    <>
      {streamTexts.pollAt}
      <p className="secret-line">
        <code translate="no">{address}</code>
        <CopyButton text={address} label={streamTexts.copyAddress} />
      </p>
    </>
  );
}

interface ProgressProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  readonly delivery: EventStreamDelivery;
  readonly mayRead: boolean;
}

function Progress({ org, delivery, mayRead }: ProgressProps) {
  const { statusCode, error, deliveredRevision } = delivery;
  return (
    <>
      <Fact title={streamTexts.receiver}>
        <ReceiverState delivery={delivery} />
      </Fact>
      {statusCode === 0 ? null : (
        <Fact title={deliveryTexts.columns.status}>
          <code>{statusCode}</code>
        </Fact>
      )}
      {error === "" ? null : (
        <Fact title={streamTexts.lastProblem}>
          <bdi>{error}</bdi>
        </Fact>
      )}
      <Fact title={deliveryTexts.deliveredUpTo}>
        <DeliveredUpTo org={org} revision={deliveredRevision} mayRead={mayRead} />
      </Fact>
    </>
  );
}
