import type { ReactNode } from "react";
import { hasScreen } from "../app/screens-by-path.ts";
import { texts } from "../texts/texts.ts";
import type { Look } from "./form-dialog-props.ts";
import { FormDialog } from "./form-dialog.tsx";
import { type Named, NamedFields, namedFields, readNamed } from "./named-fields.tsx";
import { Said } from "./said.tsx";

/** Returns where something is shown that the service has answered. */
function pathOf(answer: unknown): string | undefined {
  const { path } = (answer ?? {}) as { readonly path?: unknown };
  return typeof path === "string" && hasScreen(path) ? path : undefined;
}

interface CreateDialogProps {
  readonly title: ReactNode;
  readonly intro?: ReactNode;
  /** The names of the other fields that the form has, as in the API. */
  readonly fields?: readonly string[];
  readonly open: boolean;
  readonly onClose: () => void;
  /** Makes the call. If it returns what was created, the notice leads there. */
  readonly onCreate: (named: Named, form: FormData) => Promise<unknown>;
  /** Asks what the creation would do, which is then shown first. */
  readonly look?: Look;
  /** What is said when it is done; "Created" if it is left out. */
  readonly said?: string;
  /** The other fields. */
  readonly children?: ReactNode;
}

/** Creates something with a name and a description. */
export function CreateDialog({
  title,
  intro,
  fields = [],
  open,
  onClose,
  onCreate,
  look,
  said = texts.done.created,
  children,
}: CreateDialogProps) {
  return (
    <FormDialog
      title={title}
      intro={intro}
      submit={texts.create}
      fields={[...namedFields, ...fields]}
      open={open}
      onClose={onClose}
      onSubmit={(form) => onCreate(readNamed(form), form)}
      look={look}
      done={(form, created) => {
        const { name, displayName } = readNamed(form);
        return <Said what={said} name={displayName || name} path={pathOf(created)} />;
      }}
    >
      <NamedFields />
      {children}
    </FormDialog>
  );
}
