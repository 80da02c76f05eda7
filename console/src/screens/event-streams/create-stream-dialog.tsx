import { useMutation } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { EventStreamsService } from "../../../../gen/iam/v1alpha/event_stream_pb.ts";
import { nameOf } from "../../calls/paths.ts";
import { streamTexts } from "../../texts/stream-texts.ts";
import { texts } from "../../texts/texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { NamedFields, namedFields, readNamed } from "../../ui/named-fields.tsx";
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
  const submit = async (form: FormData): Promise<void> => {
    const eventStream = { ...readNamed(form), ...readStreamFields(form) };
    const { name } = await create.mutateAsync({ parentPath: org, eventStream });
    create.reset();
    await navigate({ to: "/orgs/$org/eventStreams/$eventStream", params: { org: nameOf(org), eventStream: name } });
  };
  return (
    <FormDialog
      title={streamTexts.create}
      intro={streamTexts.createIntro}
      submit={texts.create}
      fields={[...namedFields, ...streamFields]}
      open={open}
      onClose={onClose}
      onSubmit={submit}
    >
      <NamedFields />
      <StreamFields />
    </FormDialog>
  );
}
