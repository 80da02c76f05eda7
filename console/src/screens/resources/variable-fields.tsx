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
import { writeAmount } from "../../ui/amount.ts";
import { Picker, type Pick } from "../../ui/picker.tsx";
import { TextField, valueOf } from "../../ui/text-field.tsx";
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
        <QuantityField key={variable.kind} variable={variable} kind={kindOf(variable.kind)} />
      ))}
      {operation.qualities.map((variable) => (
        <QualityField key={variable.kind} variable={variable} kind={kindOf(variable.kind)} />
      ))}
      {operation.references.map((variable) => (
        <ReferenceField key={variable.name} variable={variable} project={project} />
      ))}
    </>
  );
}

const labelOf = (name: string, required: boolean): string => (required ? resourceTexts.required(name) : name);

const sentence = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

function QuantityField({ variable, kind }: { readonly variable: QuantityVariable; readonly kind: Kind }) {
  const { required, minimum, maximum, step, defaultAmount } = variable;
  const { variable: words } = resourceTexts;
  const write = (amount: number): string => writeAmount(amount, kind.unit);
  const unit = kind.unit === "" ? [] : [words.unit(kind.unit)];
  const limits = [
    ...(kind.unit === "byte" ? [words.bytes] : unit),
    ...(minimum === undefined ? [] : [words.from(write(minimum))]),
    ...(maximum === undefined ? [] : [words.to(write(maximum))]),
    ...(step === undefined ? [] : [words.step(write(step))]),
    ...(defaultAmount === undefined ? [] : [words.usual(write(defaultAmount))]),
  ];
  return (
    <TextField
      name={fieldOf("quantities", variable.kind)}
      label={labelOf(kind.name, required)}
      hint={sentence(limits.join(", "))}
      inputMode="decimal"
    />
  );
}

function QualityField({ variable, kind }: { readonly variable: QualityVariable; readonly kind: Kind }) {
  const { required, maximum } = variable;
  return (
    <TextField
      name={fieldOf("qualities", variable.kind)}
      label={labelOf(kind.name, required)}
      hint={maximum === undefined ? resourceTexts.anyGrade : resourceTexts.gradeTo(maximum)}
      inputMode="numeric"
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
