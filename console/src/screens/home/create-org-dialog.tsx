import { useMutation } from "@connectrpc/connect-query";
import { OrgsService } from "../../../../gen/iam/v1alpha/org_pb.ts";
import { texts } from "../../texts/texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { NamedFields, namedFields, readNamed } from "../../ui/named-fields.tsx";

interface CreateOrgDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onCreated: (path: string) => void;
}

export function CreateOrgDialog({ open, onClose, onCreated }: CreateOrgDialogProps) {
  const create = useMutation(OrgsService.method.createOrg);
  const submit = async (form: FormData): Promise<void> => {
    const { path } = await create.mutateAsync({ org: readNamed(form) });
    onCreated(path);
  };
  return (
    <FormDialog
      title={texts.orgs.create}
      intro={texts.orgs.createIntro}
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
