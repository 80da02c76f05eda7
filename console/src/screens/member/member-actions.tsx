import { useMutation } from "@connectrpc/connect-query";
import { type Member, MemberSchema, MembersService } from "../../../../gen/iam/v1alpha/member_pb.ts";
import type { Permissions } from "../../calls/use-permissions.ts";
import { deletionTexts } from "../../texts/deletion-texts.ts";
import { ChangeAndDelete, changeAndDelete } from "../../ui/change-and-delete.tsx";

const kind = "iam.members";

/** What the service requires to rename a member, and to delete it. */
export const permissionsOfActions = changeAndDelete(kind);

/** Renames a member, and deletes it. */
export function MemberActions({ member, permissions }: { readonly member: Member; readonly permissions: Permissions }) {
  const update = useMutation(MembersService.method.updateMember);
  const remove = useMutation(MembersService.method.deleteMember);
  return (
    <ChangeAndDelete
      schema={MemberSchema}
      of={member}
      permissions={permissions}
      kind={kind}
      intro={deletionTexts.member}
      onChange={({ path, changed, updateMask }) => update.mutateAsync({ path, member: changed, updateMask })}
      onDelete={(deleted) => remove.mutateAsync(deleted)}
    />
  );
}
