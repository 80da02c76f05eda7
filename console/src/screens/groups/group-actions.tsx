import { useMutation } from "@connectrpc/connect-query";
import { type Group, GroupSchema, GroupsService } from "../../../../gen/iam/v1alpha/group_pb.ts";
import type { Permissions } from "../../calls/use-permissions.ts";
import { deletionTexts } from "../../texts/deletion-texts.ts";
import { ChangeAndDelete, changeAndDelete } from "../../ui/change-and-delete.tsx";

const kind = "iam.groups";

/** What the service requires for what is done with a group itself. */
export const groupPermissions = changeAndDelete(kind);

/** Renames a group, and deletes it after its preview: who loses what. */
export function GroupActions({ group, permissions }: { readonly group: Group; readonly permissions: Permissions }) {
  const update = useMutation(GroupsService.method.updateGroup);
  const remove = useMutation(GroupsService.method.deleteGroup);
  return (
    <ChangeAndDelete
      schema={GroupSchema}
      of={group}
      permissions={permissions}
      kind={kind}
      intro={deletionTexts.group}
      onChange={({ path, changed, updateMask }) => update.mutateAsync({ path, group: changed, updateMask })}
      onPreview={async (deleted) => (await remove.mutateAsync({ ...deleted, validateOnly: true })).accessPreview}
      onDelete={(deleted) => remove.mutateAsync(deleted)}
    />
  );
}
