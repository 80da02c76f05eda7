import { useMutation } from "@connectrpc/connect-query";
import {
  type EventStream,
  EventStreamSchema,
  EventStreamsService,
} from "../../../../gen/iam/v1alpha/event_stream_pb.ts";
import { deliveryTexts } from "../../texts/delivery-texts.ts";
import { ChangeDialog } from "../../ui/change-dialog.tsx";
import { readStreamFields, StreamFields, streamFields } from "../event-streams/stream-fields.tsx";

interface ChangeStreamDialogProps {
  /** As it was when somebody asked to change it; undefined while nobody does. */
  readonly stream: EventStream | undefined;
  readonly onClose: () => void;
}

export function ChangeStreamDialog({ stream, onClose }: ChangeStreamDialogProps) {
  const update = useMutation(EventStreamsService.method.updateEventStream, {
    // The header for the receiver stays in the form, and goes with it.
    gcTime: 0,
  });
  return (
    <ChangeDialog
      schema={EventStreamSchema}
      of={stream}
      intro={deliveryTexts.changeIntro}
      fields={streamFields}
      read={readStreamFields}
      onClose={onClose}
      onChange={async ({ path, changed, updateMask }) => {
        await update.mutateAsync({ path, eventStream: changed, updateMask });
        update.reset();
      }}
    >
      <StreamFields stream={stream} />
    </ChangeDialog>
  );
}
