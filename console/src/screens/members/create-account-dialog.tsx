import { useMutation } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { MembersService, Member_Type } from "../../../../gen/iam/v1alpha/member_pb.ts";
import { nameOf } from "../../calls/paths.ts";
import { texts } from "../../texts/texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { NamedFields, namedFields, readNamed } from "../../ui/named-fields.tsx";

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
  const submit = async (form: FormData): Promise<void> => {
    const account = { ...readNamed(form), type: Member_Type.APPLICATION };
    const { name: member } = await create.mutateAsync({ parentPath: org, member: account });
    await navigate({
      to: "/orgs/$org/members/$member",
      params: { org: nameOf(org), member },
      search: { tab: "keys" },
    });
  };
  return (
    <FormDialog
      title={texts.accounts.create}
      intro={texts.accounts.createIntro}
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
