import { lazy, Suspense, useState } from "react";
import type { FormDialogProps } from "./form-dialog-props.ts";

/** Loaded when a dialog is opened: it would be a tenth of the first page. */
const ShownFormDialog = lazy(async () => ({ default: (await import("./shown-form-dialog.tsx")).ShownFormDialog }));

/** A dialog with a form. It stays when it is closed, so that what it has shown fades out. */
export function FormDialog(props: FormDialogProps) {
  const [wasOpened, setWasOpened] = useState(props.open);
  if (props.open && !wasOpened) setWasOpened(true);
  if (!wasOpened) return null;
  return (
    <Suspense>
      <ShownFormDialog {...props} />
    </Suspense>
  );
}
