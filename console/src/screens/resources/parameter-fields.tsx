import { Field } from "@base-ui/react/field";
import type { JsonValue } from "@bufbuild/protobuf";
import { resourceTexts } from "../../texts/resource-texts.ts";
import { texts } from "../../texts/texts.ts";
import { SelectField, TextAreaField, TextField } from "../../ui/text-field.tsx";
import type { ParameterField } from "./parameter-shape.ts";

const written = (value: JsonValue): string => JSON.stringify(value);

/** How people read a value that can be chosen. */
const shown = (value: JsonValue): string => (typeof value === "string" ? value : written(value));

/** A field for parameters, as the schema of a type describes them. */
export function ParameterInput({ field }: { readonly field: ParameterField }) {
  const { name, label, hint, required, initial, kind } = field;
  const named = {
    name,
    label: (
      <>
        <bdi>{label}</bdi>
        {required ? texts.required : ""}
      </>
    ),
    hint: hint === "" ? undefined : <bdi>{hint}</bdi>,
  };
  switch (kind.type) {
    case "group":
      return <Group field={field} fields={kind.fields} />;
    case "text":
      return <TextField {...named} defaultValue={typeof initial === "string" ? initial : ""} />;
    case "number":
      return (
        <TextField {...named} inputMode="decimal" defaultValue={typeof initial === "number" ? String(initial) : ""} />
      );
    case "boolean":
    case "choice": {
      const values = kind.type === "boolean" ? [true, false] : kind.values;
      const choices = values.map((value) => ({
        value: written(value),
        label: kind.type === "boolean" ? resourceTexts.truth[`${value === true}`] : shown(value),
      }));
      const unset = { value: "", label: resourceTexts.unset };
      return (
        <SelectField
          {...named}
          choices={[unset, ...choices]}
          defaultValue={initial === undefined ? "" : written(initial)}
        />
      );
    }
    case "json":
      return (
        <TextAreaField
          {...named}
          hint={
            <>
              {named.hint} {resourceTexts.asJson}
            </>
          }
          defaultValue={initial === undefined ? "" : JSON.stringify(initial, undefined, 2)}
          rows={4}
          code
        />
      );
  }
}

interface GroupProps {
  readonly field: ParameterField;
  readonly fields: readonly ParameterField[];
}

/** Fields of an object. What the service says of the object itself is above them. */
function Group({ field: { name, label, hint }, fields }: GroupProps) {
  return (
    <Field.Root name={name} className="field" render={<fieldset className="group" />}>
      <legend className="label">
        <bdi>{label}</bdi>
      </legend>
      {hint === "" ? null : (
        <p className="hint">
          <bdi>{hint}</bdi>
        </p>
      )}
      <Field.Error className="field-error" />
      {fields.map((field) => (
        <ParameterInput key={field.name} field={field} />
      ))}
    </Field.Root>
  );
}
