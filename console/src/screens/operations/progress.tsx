import { Progress as Bar } from "@base-ui/react/progress";
import { type Operation, Operation_State } from "../../../../gen/resources/v1alpha/operation_pb.ts";
import { operationTexts } from "../../texts/resource-texts.ts";

/** How far an operation is, and what it waits for; why it failed, when it has. */
export function Progress({ operation }: { readonly operation: Operation }) {
  const { state, done, error, pendingReason, progressPercent, progressMessage, cancelRequested } = operation;
  return (
    <>
      {error === undefined ? null : <OperationError error={error} />}
      {state === Operation_State.RUNNING ? (
        <Bar.Root className="meter" value={progressPercent} aria-label={operationTexts.progress}>
          <Bar.Track className="meter-track meter-root">
            <Bar.Indicator className="meter-bar" />
          </Bar.Track>
          <span className="quiet-text">
            {operationTexts.percent(progressPercent)} <bdi>{progressMessage}</bdi>
          </span>
        </Bar.Root>
      ) : null}
      {pendingReason === "" ? null : <bdi>{pendingReason}</bdi>}
      {cancelRequested && !done ? <p className="quiet-text">{operationTexts.cancelRequested}</p> : null}
    </>
  );
}

/** What a provider says of an attempt that failed. */
export function OperationError({ error: { reason, message } }: { readonly error: NonNullable<Operation["error"]> }) {
  return (
    <p>
      <code>{reason}</code> <bdi>{message}</bdi>
    </p>
  );
}
