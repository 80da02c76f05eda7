import { useMutation } from "@connectrpc/connect-query";
import { type EventStream, EventStreamsService } from "../../../../gen/iam/v1alpha/event_stream_pb.ts";
import { deliveryTexts } from "../../texts/delivery-texts.ts";
import { texts } from "../../texts/texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { TextAreaField, TextField, valueOf } from "../../ui/text-field.tsx";
import { readStreamFields, StreamFields, streamFields } from "../event-streams/stream-fields.tsx";

interface ChangeStreamDialogProps {
  /** As it was when somebody asked to change it; undefined while nobody does. */
  readonly stream: EventStream | undefined;
  readonly onClose: () => void;
}

const fields = ["display_name", "description", ...streamFields];

export function ChangeStreamDialog({ stream, onClose }: ChangeStreamDialogProps) {
  const update = useMutation(EventStreamsService.method.updateEventStream, {
    // The header for the receiver stays in the form, and goes with it.
    gcTime: 0,
  });
  const { path = "", etag = "", name = "", displayName = "", description = "" } = stream ?? {};
  const submit = async (form: FormData): Promise<void> => {
    const names = { displayName: valueOf(form, "display_name"), description: valueOf(form, "description") };
    const eventStream = { ...names, ...readStreamFields(form), etag };
    await update.mutateAsync({ path, eventStream, updateMask: { paths: fields } });
    update.reset();
  };
  return (
    <FormDialog
      title={
        <>
          {deliveryTexts.change} <bdi>{displayName || name}</bdi>
        </>
      }
      intro={deliveryTexts.changeIntro}
      submit={deliveryTexts.save}
      fields={fields}
      open={stream !== undefined}
      onClose={onClose}
      onSubmit={submit}
    >
      <StreamFields stream={stream} />
      <TextField
        name="display_name"
        label={texts.fields.displayName}
        hint={texts.fields.displayNameHint}
        defaultValue={displayName}
      />
      <TextAreaField name="description" label={texts.fields.description} defaultValue={description} />
    </FormDialog>
  );
}
