import type { InviteMemberResponse, SendInvitationResponse } from "../../../../gen/iam/v1alpha/member_pb.ts";
import { invitationTexts } from "../../texts/invitation-texts.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";

/** What the service says of a link that it has made. */
export type Delivered = InviteMemberResponse | SendInvitationResponse;

interface InvitationNoteProps {
  readonly invited: Delivered;
  readonly onDone: () => void;
}

/** Says that an invitation was sent, or shows its link, which the service does not return again. */
export function InvitationNote({ invited: { member, link, mailProblem }, onDone }: InvitationNoteProps) {
  const address = <bdi translate="no">{member?.email}</bdi>;
  if (link === "") {
    return (
      <section className="note" role="status" aria-label={invitationTexts.sentTitle}>
        <h3>{invitationTexts.sentTitle}</h3>
        <p>
          {invitationTexts.sentTo} {address}.
        </p>
        <Button onClick={onDone}>{invitationTexts.close}</Button>
      </section>
    );
  }
  return (
    <section className="note secret" role="status" aria-label={invitationTexts.linkTitle}>
      <h3>{invitationTexts.linkTitle}</h3>
      <p>
        {invitationTexts.notSent} {mailProblem}. {invitationTexts.linkIntro} {address}
      </p>
      <p className="secret-line">
        <code translate="no">{link}</code>
        <CopyButton text={link} label={invitationTexts.copyLink} />
      </p>
      <Button onClick={onDone}>{invitationTexts.done}</Button>
    </section>
  );
}
