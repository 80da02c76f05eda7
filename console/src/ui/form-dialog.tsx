import { Dialog } from "@base-ui/react/dialog";
import type { ReactNode } from "react";
import type { ButtonKind } from "./button.tsx";
import { DialogForm } from "./dialog-form.tsx";
import type { AccessPreview } from "../../../gen/iam/v1alpha/access_preview_pb.ts";

export interface FormDialogProps {
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
  /**
   * Asks what the call would do to access, without making it. If it is given, the form shows that first, and makes the call only after
   * what it has shown. It returns undefined if the service has nothing to say.
   */
  readonly onPreview?: (form: FormData) => Promise<AccessPreview | undefined>;
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
