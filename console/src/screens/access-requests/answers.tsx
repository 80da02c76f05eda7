import { useMutation } from "@connectrpc/connect-query";
import { type ReactNode, useState } from "react";
import {
  type AccessRequest,
  AccessRequest_State,
  AccessRequestsService,
} from "../../../../gen/iam/v1alpha/access_request_pb.ts";
import { useSession } from "../../app/use-session.ts";
import { nameOf } from "../../calls/paths.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { accessRequestTexts } from "../../texts/access-request-texts.ts";
import { texts } from "../../texts/texts.ts";
import { Button } from "../../ui/button.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Said } from "../../ui/said.tsx";
import { TextAreaField, valueOf } from "../../ui/text-field.tsx";

const answers = ["approve", "decline", "withdraw", "end"] as const;

type Answer = (typeof answers)[number];

interface Answers {
  /** Asks the person to confirm an answer to a request, as it was when they read it. */
  readonly answer: (answer: Answer, request: AccessRequest) => void;
  /** Beside the requests, so that what is typed stays when one of them is no longer shown. */
  readonly dialogs: ReactNode;
}

export function useAnswers(): Answers {
  const [asked, setAsked] = useState<{ readonly answer: Answer; readonly request: AccessRequest }>();
  return {
    answer: (answer, request) => setAsked({ answer, request }),
    dialogs: answers.map((answer) => (
      <AnswerDialog
        key={answer}
        answer={answer}
        request={asked?.answer === answer ? asked.request : undefined}
        onClose={() => setAsked(undefined)}
      />
    )),
  };
}

interface AnswerButtonsProps extends Pick<Answers, "answer"> {
  readonly request: AccessRequest;
}

const [create, remove] = ["iam.roleBindings.create", "iam.roleBindings.delete"];

/** What the service requires to decide about a request, and to end its access, on what it is for. */
export const answerPermissions = [create, remove];

/** What the person can do about a request: its own one is withdrawn or ended, another one decided or ended. */
export function AnswerButtons({ request, answer }: AnswerButtonsProps) {
  const { state, memberPath, resourcePath, rolePath, requiredApprovals, firstApproval, breakGlass } = request;
  const permissions = usePermissions(resourcePath, answerPermissions);
  const me = useSession().member;
  const isOwn = me === memberPath;
  const hasApproved = requiredApprovals > 1 && firstApproval?.deciderPath === me;
  const labelOf = (action: string) => accessRequestTexts.actionOn(action, nameOf(rolePath), nameOf(memberPath));
  const own = (which: "withdraw" | "end") => (
    <Button kind="quiet" aria-label={labelOf(accessRequestTexts[which])} onClick={() => answer(which, request)}>
      {accessRequestTexts[which]}
    </Button>
  );
  const guarded = (which: "approve" | "decline" | "end", permission: string) => (
    <GuardedButton
      kind={which === "approve" ? "primary" : "plain"}
      permissions={permissions}
      permission={permission}
      label={labelOf(accessRequestTexts[which])}
      onClick={() => answer(which, request)}
    >
      {accessRequestTexts[which]}
    </GuardedButton>
  );
  if (state === AccessRequest_State.PENDING) {
    if (isOwn) return own("withdraw");
    return (
      <>
        {hasApproved ? null : guarded("approve", create)}
        {guarded("decline", create)}
      </>
    );
  }
  if (state !== AccessRequest_State.APPROVED) return null;
  // What began without a decision is ended by those who could have decided, too.
  const permission = breakGlass && permissions.may(create) === true ? create : remove;
  return isOwn ? own("end") : guarded("end", permission);
}

interface AnswerDialogProps {
  readonly answer: Answer;
  /** As it was when the person read it; undefined while nobody answers. */
  readonly request: AccessRequest | undefined;
  readonly onClose: () => void;
}

const intros = {
  approve: accessRequestTexts.approveIntro,
  decline: accessRequestTexts.declineIntro,
  withdraw: accessRequestTexts.withdrawIntro,
  end: accessRequestTexts.endIntro,
};

function AnswerDialog({ answer, request, onClose }: AnswerDialogProps) {
  const approve = useMutation(AccessRequestsService.method.approveAccessRequest);
  const decline = useMutation(AccessRequestsService.method.declineAccessRequest);
  const cancel = useMutation(AccessRequestsService.method.cancelAccessRequest);
  const end = useMutation(AccessRequestsService.method.endAccessRequest);
  const { path = "", etag = "" } = request ?? {};
  const isDecision = answer === "approve" || answer === "decline";
  const submit = (form: FormData): Promise<unknown> => {
    const message = isDecision ? valueOf(form, "message") : "";
    switch (answer) {
      case "approve":
        return approve.mutateAsync({ path, etag, message });
      case "decline":
        return decline.mutateAsync({ path, etag, message });
      case "withdraw":
        return cancel.mutateAsync({ path, etag });
      case "end":
        return end.mutateAsync({ path, etag });
    }
  };
  return (
    <FormDialog
      title={accessRequestTexts[answer]}
      intro={
        request && (
          <>
            <Wanted request={request} />.{" "}
            {answer === "approve" && request.requiredApprovals > 1
              ? accessRequestTexts.approveOneIntro
              : intros[answer]}
          </>
        )
      }
      submit={accessRequestTexts[answer]}
      done={request && <Said what={accessRequestTexts.done[answer]} name={nameOf(request.rolePath)} />}
      fields={isDecision ? ["message"] : []}
      open={request !== undefined}
      onClose={onClose}
      onSubmit={submit}
    >
      {isDecision ? <TextAreaField name="message" label={texts.requests.message} /> : null}
    </FormDialog>
  );
}

/** Who wants which role on what. */
function Wanted({ request: { memberPath, rolePath, resourcePath } }: { readonly request: AccessRequest }) {
  const nameIn = useDisplayNames([memberPath, rolePath, resourcePath]);
  return (
    <>
      <bdi>{nameIn(memberPath)}</bdi> {accessRequestTexts.wants} <bdi>{nameIn(rolePath)}</bdi> {accessRequestTexts.on}{" "}
      <bdi>{nameIn(resourcePath)}</bdi>
    </>
  );
}
