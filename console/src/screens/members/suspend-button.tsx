import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { type Member, MembersService, Member_State } from "../../../../gen/iam/v1alpha/member_pb.ts";
import type { Permissions } from "../../calls/use-permissions.ts";
import { texts } from "../../texts/texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Said } from "../../ui/said.tsx";

export const memberPermissions = ["iam.members.suspend", "iam.members.activate"];

/** Suspends a member that is active, and activates one that is suspended, after a question. */
export function SuspendButton({
  member: current,
  permissions,
}: {
  readonly member: Member;
  readonly permissions: Permissions;
}) {
  // The member that the question is about, as it was when it was asked.
  const [asked, setAsked] = useState<Member>();
  const member = asked ?? current;
  const suspend = useMutation(MembersService.method.suspendMember);
  const activate = useMutation(MembersService.method.activateMember);
  const suspended = member.state === Member_State.SUSPENDED;
  if (!suspended && member.state !== Member_State.ACTIVE) return null;
  const { path, etag } = member;
  const name = member.displayName || member.name;
  const submit = async (): Promise<void> => {
    await (suspended ? activate.mutateAsync({ path, etag }) : suspend.mutateAsync({ path, etag }));
  };
  const words = suspended ? texts.members.activate : texts.members.suspend;
  return (
    <>
      <GuardedButton
        kind="quiet"
        permissions={permissions}
        permission={suspended ? "iam.members.activate" : "iam.members.suspend"}
        label={`${words} ${name}`}
        onClick={() => setAsked(current)}
      >
        {words}
      </GuardedButton>
      <FormDialog
        title={
          <>
            {words} <bdi>{name}</bdi>?
          </>
        }
        intro={suspended ? texts.members.activateIntro : texts.members.suspendIntro}
        submit={words}
        done={<Said what={suspended ? texts.done.activated : texts.done.suspended} name={name} />}
        kind={suspended ? "primary" : "danger"}
        open={asked !== undefined}
        onClose={() => setAsked(undefined)}
        onSubmit={submit}
      />
    </>
  );
}
