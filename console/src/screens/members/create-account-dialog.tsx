import { useMutation } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { MembersService, Member_Type } from "../../../../gen/iam/v1alpha/member_pb.ts";
import { nameOf } from "../../calls/paths.ts";
import { texts } from "../../texts/texts.ts";
import { CreateDialog } from "../../ui/create-dialog.tsx";
import type { Named } from "../../ui/named-fields.tsx";

interface CreateAccountDialogProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Creates a member that is a program, and leads to its keys, of which it has none yet. */
export function CreateAccountDialog({ org, open, onClose }: CreateAccountDialogProps) {
  const navigate = useNavigate();
  const create = useMutation(MembersService.method.createMember);
  const submit = async (named: Named): Promise<void> => {
    const account = { ...named, type: Member_Type.APPLICATION };
    const { name: member } = await create.mutateAsync({ parentPath: org, member: account });
    await navigate({
      to: "/orgs/$org/members/$member",
      params: { org: nameOf(org), member },
      search: { tab: "keys" },
    });
  };
  return (
    <CreateDialog
      title={texts.accounts.create}
      intro={texts.accounts.createIntro}
      open={open}
      onClose={onClose}
      onCreate={submit}
    />
  );
}
