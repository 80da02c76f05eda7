import { Field } from "@base-ui/react/field";
import type { ComponentProps, ReactNode } from "react";

interface FieldFrameProps {
  /** The name of the field in the API, such as `display_name`. */
  readonly name: string;
  readonly label: ReactNode;
  readonly hint?: ReactNode;
}

/** A field with its label, a hint, and what the service says about its value. */
function FieldFrame({ name, label, hint, children }: FieldFrameProps & { readonly children: ReactNode }) {
  return (
    <Field.Root name={name} className="field">
      <Field.Label className="label">{label}</Field.Label>
      {children}
      {hint === undefined ? null : <Field.Description className="hint">{hint}</Field.Description>}
      <Field.Error className="field-error" />
    </Field.Root>
  );
}

type TextFieldProps = FieldFrameProps &
  Omit<ComponentProps<typeof Field.Control>, "name" | "render" | "className" | "style">;

export function TextField({ name, label, hint, ...control }: TextFieldProps) {
  return (
    <FieldFrame name={name} label={label} hint={hint}>
      <Field.Control {...control} className="input" autoComplete="off" />
    </FieldFrame>
  );
}

type TextAreaFieldProps = FieldFrameProps & {
  readonly defaultValue?: string;
  /** With what follows it, what is in the field, if something else can change that, too. */
  readonly value?: string;
  readonly onValueChange?: (value: string) => void;
  readonly rows?: number;
  readonly code?: boolean;
};

export function TextAreaField({
  name,
  label,
  hint,
  defaultValue = "",
  value,
  onValueChange,
  rows = 3,
  code = false,
}: TextAreaFieldProps) {
  return (
    <FieldFrame name={name} label={label} hint={hint}>
      <Field.Control
        {...(value === undefined ? { defaultValue } : { value, ...(onValueChange && { onValueChange }) })}
        className={code ? "input code" : "input"}
        render={<textarea rows={rows} spellCheck={!code} />}
      />
    </FieldFrame>
  );
}

export interface Choice {
  readonly value: string;
  readonly label: string;
}

export function SelectField({
  name,
  label,
  hint,
  choices,
  ...control
}: FieldFrameProps & {
  readonly choices: readonly Choice[];
  readonly defaultValue?: string;
  /** What is chosen, where other fields depend on it. */
  readonly value?: string;
  readonly onValueChange?: (value: string) => void;
}) {
  return (
    <FieldFrame name={name} label={label} hint={hint}>
      <Field.Control
        {...control}
        className="input"
        render={
          <select>
            {choices.map((choice) => (
              <option key={choice.value} value={choice.value}>
                {choice.label}
              </option>
            ))}
          </select>
        }
      />
    </FieldFrame>
  );
}

/** Returns the trimmed value of a field of a form. */
export function valueOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value.trim() : "";
}

/** Returns the values that somebody has typed into a field of a form, with spaces, commas or ends of lines between them. */
export const listIn = (form: FormData, name: string): string[] =>
  valueOf(form, name)
    .split(/[\s,]+/)
    .filter(Boolean);
