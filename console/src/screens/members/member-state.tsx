import { type Member, Member_StateSchema } from "../../../../gen/iam/v1alpha/member_pb.ts";
import { invitationTexts } from "../../texts/invitation-texts.ts";
import { StateBadge } from "../../ui/state-badge.tsx";
import { Time } from "../../ui/time.tsx";

/** The state of a member, and of one that is invited, until when. */
export function MemberState({ member: { state, invitationExpireTime } }: { readonly member: Member }) {
  return (
    <>
      <StateBadge of={Member_StateSchema} value={state} />
      {invitationExpireTime === undefined ? null : (
        <>
          {" "}
          {invitationTexts.until} <Time at={invitationExpireTime} />
        </>
      )}
    </>
  );
}
