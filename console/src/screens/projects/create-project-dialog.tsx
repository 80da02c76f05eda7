import { useMutation } from "@connectrpc/connect-query";
import { ProjectsService } from "../../../../gen/iam/v1alpha/project_pb.ts";
import { texts } from "../../texts/texts.ts";
import { CreateDialog } from "../../ui/create-dialog.tsx";
import type { Named } from "../../ui/named-fields.tsx";

interface CreateProjectDialogProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  readonly open: boolean;
  readonly onClose: () => void;
}

export function CreateProjectDialog({ org, open, onClose }: CreateProjectDialogProps) {
  const create = useMutation(ProjectsService.method.createProject);
  const submit = (named: Named) => create.mutateAsync({ parentPath: org, project: named });
  return <CreateDialog title={texts.projects.create} open={open} onClose={onClose} onCreate={submit} />;
}
