import { Dialog } from "@base-ui/react/dialog";
import { Form } from "@base-ui/react/form";
import { useState, type ReactNode, type SubmitEvent } from "react";
import { type Problem, readProblem, restOf } from "../calls/read-problem.ts";
import { texts } from "../texts/texts.ts";
import { Button, type ButtonKind } from "./button.tsx";

interface FormDialogProps {
  readonly title: string;
  readonly intro?: ReactNode;
  readonly submit: string;
  readonly kind?: ButtonKind;
  /** The names of the fields that the form has, at which it shows what the service says about them. */
  readonly fields?: readonly string[];
  readonly open: boolean;
  readonly onClose: () => void;
  /** Makes the call. What it throws is shown, and the dialog stays. */
  readonly onSubmit: (form: FormData) => Promise<unknown>;
  readonly children?: ReactNode;
}

/** A form in a dialog, which closes when the service has done what it asks for. */
export function FormDialog(props: FormDialogProps) {
  const { title, open, onClose } = props;
  return (
    <Dialog.Root open={open} onOpenChange={(next) => next || onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog">
          <Dialog.Title className="dialog-title">{title}</Dialog.Title>
          <DialogForm {...props} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function DialogForm({ intro, submit, kind = "primary", fields = [], onClose, onSubmit, children }: FormDialogProps) {
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const send = async (form: FormData): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await onSubmit(form);
      onClose();
    } catch (error) {
      setProblem(readProblem(error));
    } finally {
      setBusy(false);
    }
  };
  const handle = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    void send(new FormData(event.currentTarget));
  };
  const rest = restOf(problem, fields);
  return (
    <Form className="form" errors={{ ...problem?.fields }} onSubmit={handle}>
      {intro === undefined ? null : <Dialog.Description render={<div />}>{intro}</Dialog.Description>}
      {children}
      {rest === undefined ? null : (
        <p className="note problem" role="alert">
          {rest}
        </p>
      )}
      <div className="form-end">
        <Button onClick={onClose}>{texts.cancel}</Button>
        <Button kind={kind} type="submit" disabled={busy}>
          {busy ? texts.working : submit}
        </Button>
      </div>
    </Form>
  );
}
