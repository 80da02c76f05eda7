import { useMutation } from "@connectrpc/connect-query";
import { type Client, ClientsService } from "../../../../gen/iam/v1alpha/client_pb.ts";
import { secretTexts } from "../../texts/secret-texts.ts";
import { clientTexts } from "../../texts/sign-in-texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { OverlapField, readOverlap } from "../../ui/overlap-field.tsx";

interface RotateClientDialogProps {
  /** As it was when somebody asked for another secret; undefined while nobody does. */
  readonly client: Client | undefined;
  readonly onClose: () => void;
  readonly onRotated: (client: Client) => void;
}

/** Replaces the secret of a confidential client. */
export function RotateClientDialog({ client, onClose, onRotated }: RotateClientDialogProps) {
  const rotate = useMutation(ClientsService.method.rotateClient, {
    // The secret stays in the screen that shows it, and goes with it.
    gcTime: 0,
  });
  const submit = async (form: FormData): Promise<void> => {
    const { path = "", etag = "" } = client ?? {};
    onRotated(await rotate.mutateAsync({ path, etag, overlap: readOverlap(form) }));
    rotate.reset();
  };
  return (
    <FormDialog
      title={secretTexts.rotate}
      intro={clientTexts.rotateIntro}
      submit={secretTexts.rotate}
      fields={["overlap"]}
      open={client !== undefined}
      onClose={onClose}
      onSubmit={submit}
    >
      <OverlapField />
    </FormDialog>
  );
}
