import { useCallback, useState } from "react";
import type {
  OperationType,
  QualityVariable,
  QuantityVariable,
  ReferenceVariable,
} from "../../../../gen/resources/v1alpha/resource_type_pb.ts";
import { invalidField } from "../../calls/invalid-field.ts";
import { type Kind, useKindsOfVariables } from "../../calls/use-catalog.ts";
import { useResourceOfTypeChoices } from "../../calls/use-choices.ts";
import { resourceTexts } from "../../texts/resource-texts.ts";
import { Picker, type Pick } from "../../ui/picker.tsx";
import { TextField, valueOf } from "../../ui/text-field.tsx";
import { limitsOf } from "./limits-of.ts";
import { parseAmount } from "./parse-amount.ts";

/** The name of the field for a variable, as the API writes it: `quantities["ram"]`. */
const fieldOf = (map: "quantities" | "qualities" | "references", name: string): string =>
  `${map}[${JSON.stringify(name)}]`;

/** The names of the fields that `VariableFields` shows. */
export const variableFields = ({ quantities, qualities, references }: OperationType): string[] => [
  ...quantities.map(({ kind }) => fieldOf("quantities", kind)),
  ...qualities.map(({ kind }) => fieldOf("qualities", kind)),
  ...references.map(({ name }) => fieldOf("references", name)),
];

/** Returns what somebody has typed and chosen in `VariableFields`. */
export function readVariables(form: FormData, { quantities, qualities, references }: OperationType, kindOf: KindOf) {
  const amountsOf = (map: "quantities" | "qualities", kinds: readonly { readonly kind: string }[]) =>
    typedIn(
      form,
      map,
      kinds.map(({ kind }) => kind),
    ).map(([kind, typed]) => {
      const amount = parseAmount(typed, kindOf(kind).unit);
      if (Number.isNaN(amount)) throw invalidField(fieldOf(map, kind), resourceTexts.noNumber(typed));
      return [kind, amount] as const;
    });
  return {
    quantities: Object.fromEntries(amountsOf("quantities", quantities)),
    qualities: Object.fromEntries(amountsOf("qualities", qualities)),
    references: Object.fromEntries(
      typedIn(
        form,
        "references",
        references.map(({ name }) => name),
      ),
    ),
  };
}

type KindOf = ReturnType<typeof useKindsOfVariables>;

/** Returns what was typed for the variables that were given. */
const typedIn = (form: FormData, map: "quantities" | "qualities" | "references", names: readonly string[]) =>
  names.map((name) => [name, valueOf(form, fieldOf(map, name))] as const).filter(([, typed]) => typed !== "");

interface VariableFieldsProps {
  readonly operation: OperationType;
  /** Where the resources are to which it can refer, such as `/orgs/acme/projects/web`. */
  readonly project: string;
}

/** Fields for what an operation takes: Quantities, Qualities, and references to other resources. */
export function VariableFields({ operation, project }: VariableFieldsProps) {
  const kindOf = useKindsOfVariables();
  return (
    <>
      {operation.quantities.map((variable) => (
        <AmountField
          key={variable.kind}
          name={fieldOf("quantities", variable.kind)}
          variable={variable}
          kind={kindOf(variable.kind)}
        />
      ))}
      {operation.qualities.map((variable) => (
        <AmountField
          key={variable.kind}
          name={fieldOf("qualities", variable.kind)}
          variable={variable}
          kind={kindOf(variable.kind)}
        />
      ))}
      {operation.references.map((variable) => (
        <ReferenceField key={variable.name} variable={variable} project={project} />
      ))}
    </>
  );
}

const labelOf = (name: string, required: boolean): string => (required ? resourceTexts.required(name) : name);

const sentence = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

interface AmountFieldProps {
  readonly name: string;
  readonly variable: QuantityVariable | QualityVariable;
  readonly kind: Kind;
}

function AmountField({ name, variable, kind: { name: label, unit } }: AmountFieldProps) {
  const limits = [...limitsOf(variable, unit), ...(unit === "byte" ? [resourceTexts.variable.bytes] : [])];
  return (
    <TextField
      name={name}
      label={labelOf(label, variable.required)}
      hint={sentence(limits.join(", "))}
      inputMode="decimal"
    />
  );
}

interface ReferenceFieldProps {
  readonly project: string;
  readonly variable: ReferenceVariable;
}

function ReferenceField({ variable: { name, typePath, required }, project }: ReferenceFieldProps) {
  const [used, setUsed] = useState<Pick>();
  const useChoices = useCallback(
    (words: string, open: boolean) => useResourceOfTypeChoices(project, typePath, words, open),
    [project, typePath],
  );
  return (
    <Picker
      name={fieldOf("references", name)}
      label={labelOf(name, required)}
      hint={resourceTexts.referenceHint}
      value={used}
      useChoices={useChoices}
      onPick={setUsed}
      free
    />
  );
}
