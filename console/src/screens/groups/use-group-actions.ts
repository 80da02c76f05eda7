import { createClient } from "@connectrpc/connect";
import { useTransport } from "@connectrpc/connect-query";
import { type Group, GroupSchema, GroupsService } from "../../../../gen/iam/v1alpha/group_pb.ts";
import { deletionTexts } from "../../texts/deletion-texts.ts";
import { type ActionsOfKind, permissionsFor } from "../../ui/actions/use-actions.tsx";

const kind = "iam.groups";

/** What the service requires for what is done with a group itself. */
export const groupPermissions = permissionsFor(kind);

/** What can be done with a group: it is renamed, and deleted after its preview: who loses what. It cannot be restored. */
export function useGroupActions(): ActionsOfKind<Group> {
  const groups = createClient(GroupsService, useTransport());
  return {
    schema: GroupSchema,
    kind,
    intro: deletionTexts.group,
    isDeleted: () => false,
    states: [],
    change: ({ path, changed, updateMask }) => groups.updateGroup({ path, group: changed, updateMask }),
    remove: (deleted) => groups.deleteGroup(deleted),
    preview: async (deleted) => (await groups.deleteGroup({ ...deleted, validateOnly: true })).accessPreview,
  };
}
