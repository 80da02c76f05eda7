import { useMutation } from "@connectrpc/connect-query";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type InviteMemberResponse, MembersService } from "../../../../gen/iam/v1alpha/member_pb.ts";
import { invitationTexts } from "../../texts/invitation-texts.ts";
import { texts } from "../../texts/texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { listIn, SelectField, TextField, valueOf } from "../../ui/text-field.tsx";
import { GroupsField } from "../groups/groups-field.tsx";
import { nameFromAddress } from "./name-from-address.ts";

interface InviteDialogProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onInvited: (invited: InviteMemberResponse) => void;
}

const dayMs = 86_400_000;

const ends = Object.entries(invitationTexts.ends).map(([value, label]) => ({ value, label }));

/** Invites one person. */
export function InviteDialog({ org, open, onClose, onInvited }: InviteDialogProps) {
  const invite = useMutation(MembersService.method.inviteMember, {
    // The link stays in the screen that shows it, and goes with it.
    gcTime: 0,
  });
  const submit = async (form: FormData): Promise<void> => {
    const email = valueOf(form, "email");
    const days = Number(valueOf(form, "invitation_expire_time"));
    const member = {
      email,
      name: valueOf(form, "name") || nameFromAddress(email),
      displayName: valueOf(form, "display_name"),
      // A minute less, so that the longest time is not too long by the clock of the service.
      invitationExpireTime: timestampFromMs(Date.now() + days * dayMs - 60_000),
    };
    onInvited(await invite.mutateAsync({ parentPath: org, member, groupPaths: listIn(form, "group_paths") }));
    invite.reset();
  };
  return (
    <FormDialog
      title={invitationTexts.title}
      intro={invitationTexts.intro}
      submit={invitationTexts.invite}
      fields={["email", "name", "display_name", "invitation_expire_time", "group_paths"]}
      open={open}
      onClose={onClose}
      onSubmit={submit}
    >
      <TextField
        name="email"
        label={invitationTexts.email}
        hint={invitationTexts.emailHint}
        inputMode="email"
        spellCheck={false}
      />
      <TextField name="name" label={texts.fields.name} hint={invitationTexts.nameHint} />
      <TextField name="display_name" label={texts.fields.displayName} hint={texts.fields.displayNameHint} />
      <SelectField name="invitation_expire_time" label={invitationTexts.days} choices={ends} defaultValue="7" />
      <GroupsField org={org} name="group_paths" label={invitationTexts.groups} hint={invitationTexts.groupsHint} />
    </FormDialog>
  );
}
