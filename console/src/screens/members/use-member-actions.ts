import { createClient } from "@connectrpc/connect";
import { useTransport } from "@connectrpc/connect-query";
import { type Member, MemberSchema, MembersService, Member_State } from "../../../../gen/iam/v1alpha/member_pb.ts";
import { deletionTexts } from "../../texts/deletion-texts.ts";
import { lifecycleTexts } from "../../texts/lifecycle-texts.ts";
import { restoration } from "../../ui/actions/lifecycle-actions.ts";
import { type ActionsOfKind, permissionsFor } from "../../ui/actions/use-actions.tsx";

const kind = "iam.members";

/** What the service requires to rename, delete and restore a member. */
export const permissionsOfActions = permissionsFor(kind, "undelete");

/** What can be done with a member beside suspending it: it is renamed, deleted and restored. */
export function useMemberActions(): ActionsOfKind<Member> {
  const members = createClient(MembersService, useTransport());
  return {
    schema: MemberSchema,
    kind,
    intro: deletionTexts.member,
    isDeleted: ({ state }) => state === Member_State.DELETED,
    states: [
      restoration(kind, Member_State, lifecycleTexts.restoreMember, (versioned) => members.undeleteMember(versioned)),
    ],
    change: ({ path, changed, updateMask }) => members.updateMember({ path, member: changed, updateMask }),
    remove: (deleted) => members.deleteMember(deleted),
  };
}
