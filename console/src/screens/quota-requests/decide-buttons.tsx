import { useMutation } from "@connectrpc/connect-query";
import { type ReactNode, useState } from "react";
import { type QuotaRequest, QuotaRequestsService } from "../../../../gen/iam/v1alpha/quota_request_pb.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import { useQuantityKinds } from "../../calls/use-kinds.ts";
import { quotaRequestTexts } from "../../texts/quota-texts.ts";
import { texts } from "../../texts/texts.ts";
import { AmountField } from "../../ui/amount-field.tsx";
import { amountIn } from "../../ui/amount-in.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Said } from "../../ui/said.tsx";
import { TextAreaField, valueOf } from "../../ui/text-field.tsx";
import { limitField } from "../quota/limit-field.ts";
import { LimitsInWords } from "./limits-in-words.tsx";
import type { Deciding } from "./use-deciding.ts";

type Decision = "approve" | "reject";

interface Decisions {
  /** Asks the person for a decision about a request, as it was when they read it. */
  readonly decide: (decision: Decision, request: QuotaRequest) => void;
  /** Beside the requests, so that what is typed stays when one of them is no longer shown. */
  readonly dialogs: ReactNode;
}

export function useDecisions(): Decisions {
  const [asked, setAsked] = useState<{ readonly decision: Decision; readonly request: QuotaRequest }>();
  const askedFor = (decision: Decision) => (asked?.decision === decision ? asked.request : undefined);
  const close = () => setAsked(undefined);
  return {
    decide: (decision, request) => setAsked({ decision, request }),
    dialogs: (
      <>
        <ApproveDialog request={askedFor("approve")} onClose={close} />
        <RejectDialog request={askedFor("reject")} onClose={close} />
      </>
    ),
  };
}

interface DecideButtonsProps extends Pick<Decisions, "decide"> {
  readonly request: QuotaRequest;
  readonly deciding: Deciding;
}

/** Approves or rejects a request. */
export function DecideButtons({ request, deciding, decide }: DecideButtonsProps) {
  const name = request.displayName || request.name;
  return (
    <>
      <GuardedButton
        kind="primary"
        {...deciding.neededFor("approve", request)}
        label={`${texts.requests.approve} ${name}`}
        onClick={() => decide("approve", request)}
      >
        {texts.requests.approve}
      </GuardedButton>
      <GuardedButton
        {...deciding.neededFor("reject", request)}
        label={`${texts.requests.reject} ${name}`}
        onClick={() => decide("reject", request)}
      >
        {texts.requests.reject}
      </GuardedButton>
    </>
  );
}

interface DecideDialogProps {
  /** As it was when the person read it; undefined while nobody decides. */
  readonly request: QuotaRequest | undefined;
  readonly onClose: () => void;
}

/** Raises the limits that were asked for, or some of them, or less. */
function ApproveDialog({ request, onClose }: DecideDialogProps) {
  const approve = useMutation(QuotaRequestsService.method.approveQuotaRequest);
  const namesOf = useQuantityKinds();
  const { path = "", etag = "", limits: wanted = {} } = request ?? {};
  const kinds = Object.keys(wanted).toSorted();
  // The service grants all if it gets no limits, and never lowers one.
  const limitsIn = (form: FormData) =>
    Object.fromEntries(kinds.map((kind) => [kind, amountIn(form, limitField(kind)) ?? 0]));
  return (
    <FormDialog
      title={texts.requests.approve}
      intro={request && <WhoAsks request={request} />}
      submit={texts.requests.approve}
      done={request && <Said what={texts.done.approved} name={request.displayName || request.name} />}
      fields={["message", ...kinds.map(limitField)]}
      open={request !== undefined}
      onClose={onClose}
      onSubmit={(form) =>
        approve.mutateAsync({ path, etag, limits: limitsIn(form), message: valueOf(form, "message") })
      }
    >
      {kinds.map((kind) => (
        <AmountField
          key={kind}
          name={limitField(kind)}
          kind={namesOf(kind)}
          hint={quotaRequestTexts.grantHint}
          value={wanted[kind]}
        />
      ))}
      <TextAreaField name="message" label={texts.requests.message} />
    </FormDialog>
  );
}

function RejectDialog({ request, onClose }: DecideDialogProps) {
  const reject = useMutation(QuotaRequestsService.method.rejectQuotaRequest);
  const { path = "", etag = "" } = request ?? {};
  return (
    <FormDialog
      title={texts.requests.reject}
      intro={request && <WhoAsks request={request} />}
      submit={texts.requests.reject}
      done={request && <Said what={texts.done.rejected} name={request.displayName || request.name} />}
      fields={["message"]}
      open={request !== undefined}
      onClose={onClose}
      onSubmit={(form) => reject.mutateAsync({ path, etag, message: valueOf(form, "message") })}
    >
      <TextAreaField name="message" label={texts.requests.message} />
    </FormDialog>
  );
}

function WhoAsks({ request }: { readonly request: QuotaRequest }) {
  const nameOf = useDisplayNames([request.memberPath]);
  return (
    <>
      <bdi>{nameOf(request.memberPath)}</bdi> {texts.requests.asks} <LimitsInWords limits={request.limits} />
    </>
  );
}
