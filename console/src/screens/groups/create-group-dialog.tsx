import { useMutation } from "@connectrpc/connect-query";
import { GroupsService } from "../../../../gen/iam/v1alpha/group_pb.ts";
import { texts } from "../../texts/texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { NamedFields, namedFields, readNamed } from "../../ui/named-fields.tsx";

interface CreateGroupDialogProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  readonly open: boolean;
  readonly onClose: () => void;
}

export function CreateGroupDialog({ org, open, onClose }: CreateGroupDialogProps) {
  const create = useMutation(GroupsService.method.createGroup);
  const submit = async (form: FormData): Promise<void> => {
    await create.mutateAsync({ parentPath: org, group: readNamed(form) });
  };
  return (
    <FormDialog
      title={texts.groups.create}
      submit={texts.create}
      fields={namedFields}
      open={open}
      onClose={onClose}
      onSubmit={submit}
    >
      <NamedFields />
    </FormDialog>
  );
}
