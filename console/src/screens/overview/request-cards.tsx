import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { type QuotaRequest, QuotaRequestsService } from "../../../../gen/iam/v1alpha/quota_request_pb.ts";
import { nameOf } from "../../calls/paths.ts";
import { type Permissions, usePermissions } from "../../calls/use-permissions.ts";
import { texts } from "../../texts/texts.ts";
import { writeAmount } from "../../ui/amount.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { PathLinks } from "../../ui/path-link.tsx";
import { TextAreaField, valueOf } from "../../ui/text-field.tsx";

interface RequestCardsProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  readonly requests: readonly QuotaRequest[];
}

/** Requests for more quota, with what decides them. */
export function RequestCards({ org, requests }: RequestCardsProps) {
  const permissions = usePermissions(org, ["iam.quotaRequests.approve", "iam.quotaRequests.reject"]);
  return (
    <ul className="cards">
      {requests.map((waiting) => (
        <li key={waiting.id} className="card">
          <Waiting request={waiting} permissions={permissions} />
        </li>
      ))}
    </ul>
  );
}

function Waiting({ request, permissions }: { readonly request: QuotaRequest; readonly permissions: Permissions }) {
  const [decision, setDecision] = useState<Decision>();
  return (
    <>
      <strong>
        <bdi>{request.displayName || request.name}</bdi>
      </strong>
      <span>
        <PathLinks paths={[request.memberPath]} /> {texts.requests.asks} {limitsOf(request)}
      </span>
      {request.description === "" ? null : (
        <span className="quiet-text">
          <bdi>{request.description}</bdi>
        </span>
      )}
      <span className="actions">
        <GuardedButton
          kind="primary"
          permissions={permissions}
          permission="iam.quotaRequests.approve"
          onClick={() => setDecision({ kind: "approve", request })}
        >
          {texts.requests.approve}
        </GuardedButton>
        <GuardedButton
          permissions={permissions}
          permission="iam.quotaRequests.reject"
          onClick={() => setDecision({ kind: "reject", request })}
        >
          {texts.requests.reject}
        </GuardedButton>
      </span>
      <DecideDialog decision={decision} onClose={() => setDecision(undefined)} />
    </>
  );
}

const limitsOf = ({ limits }: QuotaRequest): string =>
  Object.entries(limits)
    .map(([kind, limit]) => `${kind} ${writeAmount(limit)}`)
    .join(", ");

/** What a person has chosen to do with a request, as it was when they read it. */
interface Decision {
  readonly kind: "approve" | "reject";
  readonly request: QuotaRequest;
}

const introOf = (request: QuotaRequest) => (
  <>
    <bdi>{nameOf(request.memberPath)}</bdi> {texts.requests.asks} {limitsOf(request)}
  </>
);

interface DecideDialogProps {
  readonly decision: Decision | undefined;
  readonly onClose: () => void;
}

function DecideDialog({ decision, onClose }: DecideDialogProps) {
  const approve = useMutation(QuotaRequestsService.method.approveQuotaRequest);
  const reject = useMutation(QuotaRequestsService.method.rejectQuotaRequest);
  const submit = async (form: FormData): Promise<void> => {
    if (decision === undefined) return;
    const { path, etag } = decision.request;
    const decided = { path, etag, message: valueOf(form, "message") };
    await (decision.kind === "approve" ? approve.mutateAsync(decided) : reject.mutateAsync(decided));
  };
  const words = decision?.kind === "reject" ? texts.requests.reject : texts.requests.approve;
  return (
    <FormDialog
      title={words}
      intro={decision === undefined ? undefined : introOf(decision.request)}
      submit={words}
      fields={["message"]}
      open={decision !== undefined}
      onClose={onClose}
      onSubmit={submit}
    >
      <TextAreaField name="message" label={texts.requests.message} />
    </FormDialog>
  );
}
