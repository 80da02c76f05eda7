import { useMutation } from "@connectrpc/connect-query";
import { GroupsService } from "../../../../gen/iam/v1alpha/group_pb.ts";
import { texts } from "../../texts/texts.ts";
import { CreateDialog } from "../../ui/create-dialog.tsx";
import type { Named } from "../../ui/named-fields.tsx";

interface CreateGroupDialogProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  readonly open: boolean;
  readonly onClose: () => void;
}

export function CreateGroupDialog({ org, open, onClose }: CreateGroupDialogProps) {
  const create = useMutation(GroupsService.method.createGroup);
  const submit = (named: Named) => create.mutateAsync({ parentPath: org, group: named });
  return <CreateDialog title={texts.groups.create} open={open} onClose={onClose} onCreate={submit} />;
}
