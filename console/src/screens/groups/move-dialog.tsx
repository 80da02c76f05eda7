import { useMutation } from "@connectrpc/connect-query";
import { useCallback, useState } from "react";
import { GroupMembersService, type Subgroup } from "../../../../gen/iam/v1alpha/group_member_pb.ts";
import { nameOf, orgOf, parentOf } from "../../calls/paths.ts";
import { useGroupChoices } from "../../calls/use-choices.ts";
import { moveTexts } from "../../texts/move-texts.ts";
import { texts } from "../../texts/texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { type Pick, Picker } from "../../ui/picker.tsx";
import { PreviewNote } from "../../ui/preview-note.tsx";
import { valueOf } from "../../ui/text-field.tsx";

interface MoveDialogProps {
  /** The nested group, as it was when somebody asked to move it; undefined while nobody does. */
  readonly moved: Subgroup | undefined;
  readonly onClose: () => void;
}

const field = "group_path";

/**
 * Nests a group in another one instead of the one that it is in, after it has shown who gains and who loses what. It is nested there first, so
 * that nobody is without what both groups give. If it cannot be taken out of this one, it is taken out of the other one again.
 */
export function MoveDialog({ moved, onClose }: MoveDialogProps) {
  const nest = useMutation(GroupMembersService.method.createSubgroup);
  const remove = useMutation(GroupMembersService.method.deleteSubgroup);
  /** Where it is nested as well, if both removals failed. */
  const [left, setLeft] = useState<Subgroup>();
  const { path = "", etag = "", groupPath = "" } = moved ?? {};
  const name = moved?.displayName || moved?.name;
  const nesting = (form: FormData) => ({ parentPath: valueOf(form, field), subgroup: { groupPath } });
  const look = async (form: FormData) => {
    const isThere = left !== undefined && valueOf(form, field) === parentOf(left.path);
    const gained = isThere ? undefined : await nest.mutateAsync({ ...nesting(form), validateOnly: true });
    const lost = await remove.mutateAsync({ path, etag, allowMissing: true, validateOnly: true });
    return (
      <>
        <PreviewNote title={moveTexts.gains(nameOf(valueOf(form, field)))} preview={gained?.accessPreview} />
        <PreviewNote
          title={moveTexts.loses(nameOf(parentOf(path)))}
          preview={lost.accessPreview}
          hint={moveTexts.losesAtMost}
        />
      </>
    );
  };
  const submit = async (form: FormData): Promise<void> => {
    if (left !== undefined) {
      await remove.mutateAsync({ path: left.path, allowMissing: true });
      setLeft(undefined);
    }
    const nested = await nest.mutateAsync(nesting(form));
    try {
      await remove.mutateAsync({ path, etag, allowMissing: true });
    } catch (error) {
      await remove.mutateAsync({ path: nested.path }).catch(() => setLeft(nested));
      throw error;
    }
  };
  const close = (): void => {
    setLeft(undefined);
    onClose();
  };
  return (
    <FormDialog
      title={
        <>
          {moveTexts.move} <bdi>{name}</bdi>
        </>
      }
      intro={moveTexts.intro}
      submit={moveTexts.move}
      done={(form) => (
        <>
          {moveTexts.moved} <bdi>{name}</bdi> {moveTexts.to} <bdi>{nameOf(valueOf(form, field))}</bdi>.
        </>
      )}
      fields={[field]}
      open={moved !== undefined}
      onClose={close}
      look={{ words: texts.preview.ask, ask: look }}
      onSubmit={submit}
    >
      <GroupField org={orgOf(path)} />
      {left === undefined ? null : (
        <p className="note">{moveTexts.both(nameOf(parentOf(left.path)), nameOf(parentOf(path)))}</p>
      )}
    </FormDialog>
  );
}

function GroupField({ org }: { readonly org: string }) {
  const [group, setGroup] = useState<Pick>();
  const useGroups = useCallback((words: string, open: boolean) => useGroupChoices(org, words, open), [org]);
  return <Picker name={field} label={moveTexts.into} value={group} useChoices={useGroups} onPick={setGroup} />;
}
