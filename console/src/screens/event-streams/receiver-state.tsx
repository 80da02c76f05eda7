import type { EventStreamDelivery } from "../../../../gen/iam/v1alpha/event_stream_pb.ts";
import { deliveryTexts } from "../../texts/delivery-texts.ts";
import { streamTexts } from "../../texts/stream-texts.ts";
import { Time } from "../../ui/time.tsx";

/** Whether the receiver of an event stream accepts what it gets, and when it is tried again. */
export function ReceiverState({ delivery }: { readonly delivery: EventStreamDelivery }) {
  const { failingSince, attempts, nextAttemptTime } = delivery;
  if (failingSince === undefined) return streamTexts.noProblem;
  return (
    <>
      {streamTexts.failingSince} <Time at={failingSince} />{" "}
      <span className="quiet-text wide">
        {attempts === 0 ? null : streamTexts.tried(attempts)}
        {nextAttemptTime === undefined ? null : (
          <>
            {" · "}
            {deliveryTexts.again} <Time at={nextAttemptTime} />
          </>
        )}
      </span>
    </>
  );
}
