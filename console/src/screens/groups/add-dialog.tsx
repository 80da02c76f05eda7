import { useMutation } from "@connectrpc/connect-query";
import { useCallback, useState } from "react";
import { GroupMembersService } from "../../../../gen/iam/v1alpha/group_member_pb.ts";
import { nameOf } from "../../calls/paths.ts";
import { useGroupChoices, useMemberChoices } from "../../calls/use-choices.ts";
import { texts } from "../../texts/texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Picker, type Pick } from "../../ui/picker.tsx";
import { Said } from "../../ui/said.tsx";
import { valueOf } from "../../ui/text-field.tsx";
import { readUntil, UntilField } from "../../ui/until-field.tsx";

interface AddDialogProps {
  readonly org: string;
  readonly group: string;
  readonly adding: "member" | "group" | undefined;
  readonly onClose: () => void;
}

/** Adds a member or another group to a group, after it has shown who gains what. */
export function AddDialog({ org, group, adding, onClose }: AddDialogProps) {
  const addMember = useMutation(GroupMembersService.method.createGroupMember);
  const nest = useMutation(GroupMembersService.method.createSubgroup);
  const send = async (form: FormData, validateOnly: boolean) => {
    if (adding === "group") {
      return nest.mutateAsync({
        parentPath: group,
        subgroup: { groupPath: valueOf(form, "group_path") },
        validateOnly,
      });
    }
    const groupMember = { memberPath: valueOf(form, "member_path"), ...readUntil(form) };
    return addMember.mutateAsync({ parentPath: group, groupMember, validateOnly });
  };
  const words = adding === "group" ? texts.groups.addGroup : texts.groups.addMember;
  return (
    <FormDialog
      title={words}
      submit={texts.groups.add}
      done={(form) => (
        <Said what={texts.done.added} name={nameOf(valueOf(form, adding === "group" ? "group_path" : "member_path"))} />
      )}
      fields={["member_path", "group_path", "expire_time"]}
      open={adding !== undefined}
      onClose={onClose}
      onPreview={async (form) => (await send(form, true)).accessPreview}
      onSubmit={(form) => send(form, false)}
    >
      {adding === "group" ? <GroupField org={org} /> : <MemberFields org={org} />}
    </FormDialog>
  );
}

function MemberFields({ org }: { readonly org: string }) {
  const [member, setMember] = useState<Pick>();
  const useMembers = useCallback((words: string, open: boolean) => useMemberChoices(org, words, open), [org]);
  return (
    <>
      <Picker name="member_path" label={texts.kinds.member} value={member} useChoices={useMembers} onPick={setMember} />
      <UntilField hint={texts.grants.untilHint} />
    </>
  );
}

function GroupField({ org }: { readonly org: string }) {
  const [group, setGroup] = useState<Pick>();
  const useGroups = useCallback((words: string, open: boolean) => useGroupChoices(org, words, open), [org]);
  return <Picker name="group_path" label={texts.kinds.group} value={group} useChoices={useGroups} onPick={setGroup} />;
}
