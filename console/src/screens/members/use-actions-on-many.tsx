import { createClient } from "@connectrpc/connect";
import { useTransport } from "@connectrpc/connect-query";
import { useCallback, useState } from "react";
import { GroupMembersService } from "../../../../gen/iam/v1alpha/group_member_pb.ts";
import { type Member, MembersService, Member_State } from "../../../../gen/iam/v1alpha/member_pb.ts";
import { invalidField } from "../../calls/invalid-field.ts";
import { useGroupChoices } from "../../calls/use-choices.ts";
import { memberTexts } from "../../texts/member-texts.ts";
import { texts } from "../../texts/texts.ts";
import type { ManyAction } from "../../ui/many/many-action.ts";
import { type Pick, Picker } from "../../ui/picker.tsx";
import { valueOf } from "../../ui/text-field.tsx";

/** What the service requires for what is done with several members. */
export const permissionsForMany = ["iam.members.delete", "iam.groupMembers.create"];

/** What can be done with several members of an org. */
export function useActionsOnMany(org: string): readonly ManyAction<Member>[] {
  const transport = useTransport();
  const members = createClient(MembersService, transport);
  const groups = createClient(GroupMembersService, transport);
  // Another member may have got the name of one meanwhile, but not its id.
  const pathsOf = (rows: readonly Member[]): string[] => rows.map(({ id }) => `${org}/members/@${id}`);
  const addition = (rows: readonly Member[], form: FormData, validateOnly: boolean) => {
    const group = valueOf(form, groupField);
    if (group === "") throw invalidField(groupField, memberTexts.chooseGroup);
    const requests = pathsOf(rows).map((memberPath) => ({ parentPath: group, groupMember: { memberPath } }));
    return groups.batchCreateGroupMembers({ parentPath: group, requests, validateOnly });
  };
  return [
    {
      act: memberTexts.addToGroup,
      question: memberTexts.addManyToGroup,
      submit: memberTexts.add,
      done: memberTexts.addedToGroup,
      permission: "iam.groupMembers.create",
      fits: isThere,
      fields: [groupField],
      form: <GroupField org={org} />,
      run: {
        together: (rows, form) => addition(rows, form, false),
        preview: async (rows, form) => (await addition(rows, form, true)).accessPreview,
      },
    },
    {
      act: texts.members.activate,
      done: texts.done.activated,
      intro: memberTexts.activateIntro,
      permission: "iam.members.activate",
      fits: ({ state }) => state === Member_State.SUSPENDED,
      run: { each: ({ path, etag }) => members.activateMember({ path, etag }) },
    },
    {
      act: texts.members.suspend,
      done: texts.done.suspended,
      intro: memberTexts.suspendIntro,
      kind: "danger",
      permission: "iam.members.suspend",
      fits: ({ state }) => state === Member_State.ACTIVE,
      run: { each: ({ path, etag }) => members.suspendMember({ path, etag }) },
    },
    {
      act: texts.delete,
      done: texts.done.deleted,
      intro: memberTexts.deleteIntro,
      kind: "danger",
      permission: "iam.members.delete",
      fits: isThere,
      run: {
        together: (rows) =>
          members.batchDeleteMembers({ parentPath: org, paths: pathsOf(rows), etags: rows.map(({ etag }) => etag) }),
      },
    },
  ];
}

const isThere = ({ state }: Member): boolean => state !== Member_State.DELETED;

const groupField = "group_path";

function GroupField({ org }: { readonly org: string }) {
  const [group, setGroup] = useState<Pick>();
  const useGroups = useCallback((words: string, open: boolean) => useGroupChoices(org, words, open), [org]);
  return <Picker name={groupField} label={texts.kinds.group} value={group} useChoices={useGroups} onPick={setGroup} />;
}
