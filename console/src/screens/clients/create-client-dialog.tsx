import { useMutation } from "@connectrpc/connect-query";
import { type Client, ClientsService } from "../../../../gen/iam/v1alpha/client_pb.ts";
import { clientTexts } from "../../texts/sign-in-texts.ts";
import { texts } from "../../texts/texts.ts";
import { choicesOf } from "../../ui/enum-choices.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { NamedFields, namedFields, readNamed } from "../../ui/named-fields.tsx";
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
  const submit = async (form: FormData): Promise<void> => {
    const confidential = valueOf(form, "confidential") === "true";
    const client = { ...readNamed(form), ...readClientFields(form), confidential };
    onMade(await create.mutateAsync({ parentPath: org, client }));
    create.reset();
  };
  return (
    <FormDialog
      title={clientTexts.create}
      intro={clientTexts.createIntro}
      submit={texts.create}
      fields={[...namedFields, ...clientFields, "confidential"]}
      open={open}
      onClose={onClose}
      onSubmit={submit}
    >
      <NamedFields />
      <SelectField
        name="confidential"
        label={clientTexts.type}
        choices={choicesOf(clientTexts.types)}
        defaultValue="true"
      />
      <ClientFields />
    </FormDialog>
  );
}
