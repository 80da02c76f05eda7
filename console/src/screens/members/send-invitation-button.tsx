import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import {
  type Member,
  MembersService,
  Member_State,
  type SendInvitationResponse,
} from "../../../../gen/iam/v1alpha/member_pb.ts";
import type { Permissions } from "../../calls/use-permissions.ts";
import { invitationTexts } from "../../texts/invitation-texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";

interface SendInvitationButtonProps {
  readonly member: Member;
  readonly permissions: Permissions;
  readonly onSent: (sent: SendInvitationResponse) => void;
}

/** Sends the invitation of a member with another link, after a question. There is none for who has accepted, or has no address. */
export function SendInvitationButton({ member, permissions, onSent }: SendInvitationButtonProps) {
  const [asked, setAsked] = useState(false);
  const send = useMutation(MembersService.method.sendInvitation, { gcTime: 0 });
  if (member.state !== Member_State.INVITED || member.email === "") return null;
  const name = member.displayName || member.name;
  const submit = async (): Promise<void> => {
    onSent(await send.mutateAsync({ path: member.path }));
    send.reset();
  };
  return (
    <>
      <GuardedButton
        kind="quiet"
        permissions={permissions}
        permission="iam.members.sendInvitation"
        label={`${invitationTexts.sendAgain} ${name}`}
        onClick={() => setAsked(true)}
      >
        {invitationTexts.sendAgain}
      </GuardedButton>
      <FormDialog
        title={
          <>
            {invitationTexts.sendAgain}: <bdi>{member.email}</bdi>
          </>
        }
        intro={invitationTexts.sendAgainIntro}
        submit={invitationTexts.sendAgain}
        open={asked}
        onClose={() => setAsked(false)}
        onSubmit={submit}
      />
    </>
  );
}
