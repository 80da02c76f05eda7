import { useMutation } from "@connectrpc/connect-query";
import { EventStreamsService } from "../../../../gen/iam/v1alpha/event_stream_pb.ts";
import { streamTexts } from "../../texts/stream-texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { TextField, valueOf } from "../../ui/text-field.tsx";

interface VerifyDialogProps {
  /** Such as `/orgs/acme/eventStreams/gateway`. */
  readonly path: string;
  readonly open: boolean;
  readonly onClose: () => void;
  /** Called with the `jti` of the event. */
  readonly onAsked: (jti: string) => void;
}

/** Has a verification event sent. */
export function VerifyDialog({ path, open, onClose, onAsked }: VerifyDialogProps) {
  const verify = useMutation(EventStreamsService.method.verifyEventStream);
  const submit = async (form: FormData): Promise<void> => {
    const { jti } = await verify.mutateAsync({ path, state: valueOf(form, "state") });
    onAsked(jti);
  };
  return (
    <FormDialog
      title={streamTexts.verify}
      intro={streamTexts.verifyIntro}
      submit={streamTexts.verifySubmit}
      fields={["state"]}
      open={open}
      onClose={onClose}
      onSubmit={submit}
    >
      <TextField name="state" label={streamTexts.verifyState} hint={streamTexts.verifyStateHint} />
    </FormDialog>
  );
}
