import { useMutation } from "@connectrpc/connect-query";
import { OrgsService } from "../../../../gen/iam/v1alpha/org_pb.ts";
import { texts } from "../../texts/texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { TextAreaField, TextField, valueOf } from "../../ui/text-field.tsx";

interface CreateOrgDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onCreated: (path: string) => void;
}

export function CreateOrgDialog({ open, onClose, onCreated }: CreateOrgDialogProps) {
  const create = useMutation(OrgsService.method.createOrg);
  const submit = async (form: FormData): Promise<void> => {
    const org = {
      name: valueOf(form, "name"),
      displayName: valueOf(form, "display_name"),
      description: valueOf(form, "description"),
    };
    const { path } = await create.mutateAsync({ org });
    onCreated(path);
  };
  return (
    <FormDialog
      title={texts.orgs.create}
      intro={texts.orgs.createIntro}
      submit={texts.create}
      fields={["name", "display_name", "description"]}
      open={open}
      onClose={onClose}
      onSubmit={submit}
    >
      <TextField name="name" label={texts.fields.name} hint={texts.fields.nameHint} />
      <TextField name="display_name" label={texts.fields.displayName} hint={texts.fields.displayNameHint} />
      <TextAreaField name="description" label={texts.fields.description} />
    </FormDialog>
  );
}
