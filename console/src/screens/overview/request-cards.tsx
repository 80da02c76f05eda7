import { useMutation } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type QuotaRequest, QuotaRequestsService } from "../../../../gen/iam/v1alpha/quota_request_pb.ts";
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
  const [deciding, setDeciding] = useState<"approve" | "reject">();
  const limits = Object.entries(request.limits).map(([kind, limit]) => `${kind} ${writeAmount(limit)}`);
  return (
    <>
      <strong>
        <bdi>{request.displayName || request.name}</bdi>
      </strong>
      <span>
        <PathLinks paths={[request.memberPath]} /> {texts.requests.asks} {limits.join(", ")}
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
          onClick={() => setDeciding("approve")}
        >
          {texts.requests.approve}
        </GuardedButton>
        <GuardedButton
          permissions={permissions}
          permission="iam.quotaRequests.reject"
          onClick={() => setDeciding("reject")}
        >
          {texts.requests.reject}
        </GuardedButton>
      </span>
      <DecideDialog request={request} decision={deciding} onClose={() => setDeciding(undefined)} />
    </>
  );
}

interface DecideDialogProps {
  readonly request: QuotaRequest;
  readonly decision: "approve" | "reject" | undefined;
  readonly onClose: () => void;
}

function DecideDialog({ request: { path, etag }, decision, onClose }: DecideDialogProps) {
  const approve = useMutation(QuotaRequestsService.method.approveQuotaRequest);
  const reject = useMutation(QuotaRequestsService.method.rejectQuotaRequest);
  const queryClient = useQueryClient();
  const submit = async (form: FormData): Promise<void> => {
    const decided = { path, etag, message: valueOf(form, "message") };
    await (decision === "approve" ? approve.mutateAsync(decided) : reject.mutateAsync(decided));
    await queryClient.invalidateQueries();
  };
  const words = decision === "reject" ? texts.requests.reject : texts.requests.approve;
  return (
    <FormDialog
      title={words}
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
