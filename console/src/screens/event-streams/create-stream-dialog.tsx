import { useMutation } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { EventStreamsService } from "../../../../gen/iam/v1alpha/event_stream_pb.ts";
import { nameOf } from "../../calls/paths.ts";
import { streamTexts } from "../../texts/stream-texts.ts";
import { CreateDialog } from "../../ui/create-dialog.tsx";
import type { Named } from "../../ui/named-fields.tsx";
import { readStreamFields, StreamFields, streamFields } from "./stream-fields.tsx";

interface CreateStreamDialogProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Creates an event stream, and leads to its screen, which says what its receiver does next. */
export function CreateStreamDialog({ org, open, onClose }: CreateStreamDialogProps) {
  const navigate = useNavigate();
  const create = useMutation(EventStreamsService.method.createEventStream, {
    // The header for the receiver stays in the form, and goes with it.
    gcTime: 0,
  });
  const submit = async (named: Named, form: FormData): Promise<void> => {
    const eventStream = { ...named, ...readStreamFields(form) };
    const { name } = await create.mutateAsync({ parentPath: org, eventStream });
    create.reset();
    await navigate({ to: "/orgs/$org/eventStreams/$eventStream", params: { org: nameOf(org), eventStream: name } });
  };
  return (
    <CreateDialog
      title={streamTexts.create}
      intro={streamTexts.createIntro}
      fields={streamFields}
      open={open}
      onClose={onClose}
      onCreate={submit}
    >
      <StreamFields />
    </CreateDialog>
  );
}
