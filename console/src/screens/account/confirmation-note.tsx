import type { SendConfirmationResponse } from "../../../../gen/iam/v1alpha/contact_pb.ts";
import { accountTexts } from "../../texts/account-texts.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { invitationTexts } from "../../texts/invitation-texts.ts";

interface ConfirmationNoteProps {
  readonly sent: SendConfirmationResponse;
  readonly onDone: () => void;
}

/** Says that a link was sent, or why not; or shows it, which the service does not return again. */
export function ConfirmationNote({ sent: { contact, link, mailSent, mailProblem }, onDone }: ConfirmationNoteProps) {
  const address = <bdi translate="no">{contact?.email}</bdi>;
  if (link === "") {
    return (
      <section className="note" role="status" aria-label={accountTexts.sentTitle}>
        {mailSent ? (
          <p>
            {accountTexts.sentTo} {address}.
          </p>
        ) : (
          <p>
            {accountTexts.notSent} {mailProblem}.
          </p>
        )}
        <Button onClick={onDone}>{accountTexts.close}</Button>
      </section>
    );
  }
  return (
    <section className="note secret" role="status" aria-label={accountTexts.linkTitle}>
      <h3>{accountTexts.linkTitle}</h3>
      <p>
        {accountTexts.notSent} {mailProblem}. {accountTexts.linkIntro} {address}:
      </p>
      <p className="secret-line">
        <code translate="no">{link}</code>
        <CopyButton text={link} label={invitationTexts.copyLink} />
      </p>
      <Button onClick={onDone}>{accountTexts.done}</Button>
    </section>
  );
}
