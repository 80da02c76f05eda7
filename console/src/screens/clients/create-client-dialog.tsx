import { useMutation } from "@connectrpc/connect-query";
import { type Client, ClientsService } from "../../../../gen/iam/v1alpha/client_pb.ts";
import { clientTexts } from "../../texts/sign-in-texts.ts";
import { CreateDialog } from "../../ui/create-dialog.tsx";
import type { Named } from "../../ui/named-fields.tsx";
import { choicesOf } from "../../ui/enum-choices.ts";
import { SelectField, valueOf } from "../../ui/text-field.tsx";
import { ClientFields, clientFields, readClientFields } from "./client-fields.tsx";

interface CreateClientDialogProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onMade: (client: Client) => void;
}

export function CreateClientDialog({ org, open, onClose, onMade }: CreateClientDialogProps) {
  const create = useMutation(ClientsService.method.createClient, {
    // The secret stays in the screen that shows it, and goes with it.
    gcTime: 0,
  });
  const submit = async (named: Named, form: FormData): Promise<void> => {
    const confidential = valueOf(form, "confidential") === "true";
    const client = { ...named, ...readClientFields(form), confidential };
    onMade(await create.mutateAsync({ parentPath: org, client }));
    create.reset();
  };
  return (
    <CreateDialog
      title={clientTexts.create}
      intro={clientTexts.createIntro}
      fields={[...clientFields, "confidential"]}
      open={open}
      onClose={onClose}
      onCreate={submit}
    >
      <SelectField
        name="confidential"
        label={clientTexts.type}
        choices={choicesOf(clientTexts.types)}
        defaultValue="true"
      />
      <ClientFields />
    </CreateDialog>
  );
}
