import { Dialog } from "@base-ui/react/dialog";
import { manyTexts } from "../../texts/many-texts.ts";
import { Button } from "../button.tsx";
import { useLeave } from "./use-leave.ts";

const { leave: words } = manyTexts;

interface LeaveQuestionProps {
  /** Whether something goes on that ends when the screen is left. */
  readonly running: boolean;
  /** How many rows are not done yet. */
  readonly left: number;
  readonly lost: string | undefined;
}

/** Asks somebody who is about to leave a screen on which something is done to one row after the other. */
export function LeaveQuestion({ running, left, lost }: LeaveQuestionProps) {
  const { isAsked, answer } = useLeave(running);
  return (
    <Dialog.Root open={isAsked} onOpenChange={(open) => open || answer("stay")}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog">
          <Dialog.Title className="dialog-title">{words.title}</Dialog.Title>
          <div className="form">
            <Dialog.Description>
              {words.text(left)} {lost}
            </Dialog.Description>
            <div className="form-end">
              <Button onClick={() => answer("leave")}>{words.leave}</Button>
              <Button kind="primary" onClick={() => answer("stay")}>
                {words.stay}
              </Button>
            </div>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
