import { Dialog } from "@base-ui/react/dialog";
import { DialogForm } from "./dialog-form.tsx";
import type { FormDialogProps } from "./form-dialog-props.ts";

/** A form in a dialog, which closes when the service has done what it asks for and what screens show has been read again. */
export function ShownFormDialog(props: FormDialogProps) {
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
