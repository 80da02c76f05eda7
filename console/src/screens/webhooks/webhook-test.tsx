import { useMutation } from "@connectrpc/connect-query";
import { WebhooksService } from "../../../../gen/iam/v1alpha/webhook_pb.ts";
import type { Permissions } from "../../calls/use-permissions.ts";
import { webhookTexts } from "../../texts/delivery-texts.ts";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { ErrorNote, Loading } from "../../ui/notes.tsx";
import { Answer, Outcome } from "./outcome.tsx";

export const useTest = () => useMutation(WebhooksService.method.testWebhook);

type Test = ReturnType<typeof useTest>;

interface TestButtonProps {
  /** Such as `/orgs/acme/webhooks/audit`. */
  readonly path: string;
  readonly test: Test;
  readonly permissions: Permissions;
}

/** Sends a request without a change to the receiver. */
export function TestButton({ path, test, permissions }: TestButtonProps) {
  const send = (): void => {
    if (!test.isPending) test.mutate({ path });
  };
  return (
    <GuardedButton permissions={permissions} permission="iam.webhooks.test" onClick={send}>
      {webhookTexts.test}
    </GuardedButton>
  );
}

/** What came of a test. */
export function TestResult({ test }: { readonly test: Test }) {
  if (test.isPending) return <Loading />;
  if (test.error !== null) return <ErrorNote error={test.error} />;
  if (test.data === undefined) return null;
  return (
    <div className="note" role="status" aria-label={webhookTexts.testTitle}>
      <strong>{webhookTexts.testTitle}</strong>
      <Outcome delivery={test.data} />
      <Answer delivery={test.data} />
    </div>
  );
}
