import { useMutation } from "@connectrpc/connect-query";
import { GroupsService } from "../../../../gen/iam/v1alpha/group_pb.ts";
import { texts } from "../../texts/texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { TextAreaField, TextField, valueOf } from "../../ui/text-field.tsx";

interface CreateGroupDialogProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  readonly open: boolean;
  readonly onClose: () => void;
}

export function CreateGroupDialog({ org, open, onClose }: CreateGroupDialogProps) {
  const create = useMutation(GroupsService.method.createGroup);
  const submit = async (form: FormData): Promise<void> => {
    const group = {
      name: valueOf(form, "name"),
      displayName: valueOf(form, "display_name"),
      description: valueOf(form, "description"),
    };
    await create.mutateAsync({ parentPath: org, group });
  };
  return (
    <FormDialog
      title={texts.groups.create}
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
