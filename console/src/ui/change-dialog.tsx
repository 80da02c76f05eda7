import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import { FormDialog } from "./form-dialog.tsx";
import { TextAreaField, TextField, valueOf } from "./text-field.tsx";

/** What people can rename and describe. */
interface Changeable {
  readonly path: string;
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly etag: string;
}

/** What `ChangeDialog` itself asks for, as an update sends it. */
interface Change {
  readonly path: string;
  readonly described: Pick<Changeable, "displayName" | "description" | "etag">;
  readonly updateMask: { readonly paths: string[] };
}

interface ChangeDialogProps {
  /** As it was when somebody asked to change it; undefined while nobody does. */
  readonly of: Changeable | undefined;
  readonly intro?: ReactNode;
  /** The names of the other fields that the form has, as in the API. All of them are sent. */
  readonly fields: readonly string[];
  readonly onClose: () => void;
  readonly onChange: (change: Change, form: FormData) => Promise<unknown>;
  /** The other fields. */
  readonly children?: ReactNode;
}

/** Changes the display name, the description and other fields of a resource, unless somebody else has changed it meanwhile. */
export function ChangeDialog({ of, intro, fields, onClose, onChange, children }: ChangeDialogProps) {
  const { path = "", name = "", displayName = "", description = "", etag = "" } = of ?? {};
  const paths = ["display_name", "description", ...fields];
  const submit = (form: FormData): Promise<unknown> => {
    const described = {
      displayName: valueOf(form, "display_name"),
      description: valueOf(form, "description"),
      etag,
    };
    return onChange({ path, described, updateMask: { paths } }, form);
  };
  return (
    <FormDialog
      title={
        <>
          {texts.change} <bdi>{displayName || name}</bdi>
        </>
      }
      intro={intro}
      submit={texts.save}
      fields={paths}
      open={of !== undefined}
      onClose={onClose}
      onSubmit={submit}
    >
      {children}
      <TextField
        name="display_name"
        label={texts.fields.displayName}
        hint={texts.fields.displayNameHint}
        defaultValue={displayName}
      />
      <TextAreaField name="description" label={texts.fields.description} defaultValue={description} />
    </FormDialog>
  );
}
