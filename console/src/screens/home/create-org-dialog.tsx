import { useMutation } from "@connectrpc/connect-query";
import { OrgsService } from "../../../../gen/iam/v1alpha/org_pb.ts";
import { texts } from "../../texts/texts.ts";
import { CreateDialog } from "../../ui/create-dialog.tsx";
import type { Named } from "../../ui/named-fields.tsx";

interface CreateOrgDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onCreated: (path: string) => void;
}

export function CreateOrgDialog({ open, onClose, onCreated }: CreateOrgDialogProps) {
  const create = useMutation(OrgsService.method.createOrg);
  const submit = async (named: Named): Promise<void> => {
    const { path } = await create.mutateAsync({ org: named });
    onCreated(path);
  };
  return (
    <CreateDialog
      title={texts.orgs.create}
      intro={texts.orgs.createIntro}
      open={open}
      onClose={onClose}
      onCreate={submit}
    />
  );
}
