import { useMutation } from "@connectrpc/connect-query";
import { ProjectsService } from "../../../../gen/iam/v1alpha/project_pb.ts";
import { texts } from "../../texts/texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { NamedFields, namedFields, readNamed } from "../../ui/named-fields.tsx";

interface CreateProjectDialogProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  readonly open: boolean;
  readonly onClose: () => void;
}

export function CreateProjectDialog({ org, open, onClose }: CreateProjectDialogProps) {
  const create = useMutation(ProjectsService.method.createProject);
  const submit = async (form: FormData): Promise<void> => {
    await create.mutateAsync({ parentPath: org, project: readNamed(form) });
  };
  return (
    <FormDialog
      title={texts.projects.create}
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
