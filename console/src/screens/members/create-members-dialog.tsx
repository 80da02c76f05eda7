import { create } from "@bufbuild/protobuf";
import { useMutation } from "@connectrpc/connect-query";
import { CreateMemberRequestSchema, MembersService, Member_Type } from "../../../../gen/iam/v1alpha/member_pb.ts";
import { stateNames } from "../../texts/state-names.ts";
import { texts } from "../../texts/texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { SelectField, TextAreaField, valueOf } from "../../ui/text-field.tsx";
import { readMembers } from "./read-members.ts";

interface CreateMembersDialogProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  readonly open: boolean;
  readonly onClose: () => void;
}

const types = ["USER", "APPLICATION"] as const;

/** Creates one member, or many at once from pasted lines: all of them, or none. */
export function CreateMembersDialog({ org, open, onClose }: CreateMembersDialogProps) {
  const batch = useMutation(MembersService.method.batchCreateMembers);
  const submit = async (form: FormData): Promise<void> => {
    const type = Member_Type[types.find((name) => name === form.get("type")) ?? "USER"];
    const requests = readMembers(valueOf(form, "requests")).map((member) =>
      create(CreateMemberRequestSchema, { parentPath: org, member: { ...member, type } }),
    );
    await batch.mutateAsync({ parentPath: org, requests });
  };
  return (
    <FormDialog
      title={texts.members.create}
      intro={texts.members.createIntro}
      submit={texts.create}
      done={(form) => texts.members.created(readMembers(valueOf(form, "requests")).length)}
      fields={["requests"]}
      open={open}
      onClose={onClose}
      onSubmit={submit}
    >
      <TextAreaField name="requests" label={texts.members.names} hint={texts.members.namesHint} rows={6} />
      <SelectField
        name="type"
        label={texts.columns.type}
        choices={types.map((value) => ({ value, label: stateNames[value] ?? value }))}
        defaultValue="USER"
      />
    </FormDialog>
  );
}
