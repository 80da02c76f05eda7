import { texts } from "../texts/texts.ts";
import { TextAreaField, TextField, valueOf } from "./text-field.tsx";

/** The names of the fields that `NamedFields` shows, as in the API. */
export const namedFields = ["name", "display_name", "description"] as const;

/** What somebody has typed into `NamedFields`. */
export interface Named {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
}

export const readNamed = (form: FormData): Named => ({
  name: valueOf(form, "name"),
  displayName: valueOf(form, "display_name"),
  description: valueOf(form, "description"),
});

/** The fields of what is created with a name and a description. */
export function NamedFields() {
  return (
    <>
      <TextField name="name" label={texts.fields.name} hint={texts.fields.nameHint} />
      <TextField name="display_name" label={texts.fields.displayName} hint={texts.fields.displayNameHint} />
      <TextAreaField name="description" label={texts.fields.description} />
    </>
  );
}
