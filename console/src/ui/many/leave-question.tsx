import { Dialog } from "@base-ui/react/dialog";
import { useBlocker } from "@tanstack/react-router";
import { useEffect } from "react";
import { manyTexts } from "../../texts/many-texts.ts";
import { Button } from "../button.tsx";

const { leave: words } = manyTexts;

interface LeaveQuestionProps {
  /** Whether something goes on that ends when the screen is left. */
  readonly running: boolean;
  /** How many rows are not done yet. */
  readonly left: number;
}

/** Asks somebody who is about to leave a screen on which something is done to one row after the other. */
export function LeaveQuestion({ running, left }: LeaveQuestionProps) {
  const blocker = useBlocker({
    shouldBlockFn: always,
    // The browser asks where it leaves the console.
    enableBeforeUnload: running,
    disabled: !running,
    withResolver: true,
  });
  const { status, reset, proceed } = blocker;
  useEffect(() => {
    // It has ended meanwhile, and the screen says how.
    if (!running && status === "blocked") reset();
  }, [running, status, reset]);
  return (
    <Dialog.Root open={status === "blocked"} onOpenChange={(open) => open || reset?.()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog">
          <Dialog.Title className="dialog-title">{words.title}</Dialog.Title>
          <div className="form">
            <Dialog.Description>{words.text(left)}</Dialog.Description>
            <div className="form-end">
              <Button onClick={proceed}>{words.leave}</Button>
              <Button kind="primary" onClick={reset}>
                {words.stay}
              </Button>
            </div>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

const always = (): boolean => true;
