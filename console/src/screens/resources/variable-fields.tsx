import { useCallback, useState } from "react";
import type {
  OperationType,
  QualityVariable,
  QuantityVariable,
  ReferenceVariable,
} from "../../../../gen/resources/v1alpha/resource_type_pb.ts";
import type { Resource } from "../../../../gen/resources/v1alpha/resource_pb.ts";
import { useQualityKinds } from "../../calls/use-catalog.ts";
import { useResourceName } from "../../calls/use-resource-name.ts";
import { useResourceOfTypeChoices } from "../../calls/use-choices.ts";
import { type Kind, useQuantityKinds } from "../../calls/use-kinds.ts";
import { resourceTexts } from "../../texts/resource-texts.ts";
import { sentence } from "../../texts/sentence.ts";
import { amountOf } from "../../ui/amount.ts";
import { AmountField } from "../../ui/amount-field.tsx";
import { amountIn } from "../../ui/amount-in.ts";
import { Picker, type Pick as Choice } from "../../ui/picker.tsx";
import { valueOf } from "../../ui/text-field.tsx";
import { limitsOf } from "./limits-of.ts";

/** The name of the field for a variable, as the API writes it: `quantities["ram"]`. */
const fieldOf = (map: "quantities" | "qualities" | "references", name: string): string =>
  `${map}[${JSON.stringify(name)}]`;

/** The names of the fields that `VariableFields` shows. */
export const variableFields = ({ quantities, qualities, references }: OperationType): string[] => [
  ...quantities.map(({ kind }) => fieldOf("quantities", kind)),
  ...qualities.map(({ kind }) => fieldOf("qualities", kind)),
  ...references.map(({ name }) => fieldOf("references", name)),
];

/** What a resource was asked to have, which the fields begin with. */
export type Present = Pick<Resource, "quantities" | "qualities" | "references">;

const nothingPresent: Present = { quantities: {}, qualities: {}, references: {} };

/**
 * Returns what somebody has typed and chosen in `VariableFields`. A reference that is as before is left out unless it is required,
 * because it would take the permission to use the resource again; one that was emptied is let go.
 */
export function readVariables(
  form: FormData,
  { quantities, qualities, references }: OperationType,
  { references: present }: Present = nothingPresent,
) {
  const amountsIn = (map: "quantities" | "qualities", variables: readonly { readonly kind: string }[]) =>
    Object.fromEntries(
      variables.flatMap(({ kind }) => {
        const amount = amountIn(form, fieldOf(map, kind));
        return amount === undefined ? [] : [[kind, amount] as const];
      }),
    );
  const isAsBefore = (name: string, path: string): boolean => path === (present[name] ?? "");
  const chosen = references.flatMap(({ name, required }) => {
    const path = valueOf(form, fieldOf("references", name));
    return isAsBefore(name, path) && !(required && path !== "") ? [] : [[name, path] as const];
  });
  return {
    quantities: amountsIn("quantities", quantities),
    qualities: amountsIn("qualities", qualities),
    references: Object.fromEntries(chosen),
  };
}

interface VariableFieldsProps {
  readonly operation: OperationType;
  /** Where the resources are to which it can refer, such as `/orgs/acme/projects/web`. */
  readonly project: string;
  readonly present?: Present;
  /** Whether the person may read resources of every type, and so what those are called that are used now. */
  readonly mayReadUsed?: boolean;
}

/** Fields for what an operation takes: Quantities, Qualities, and references to other resources. */
export function VariableFields({
  operation,
  project,
  present = nothingPresent,
  mayReadUsed = false,
}: VariableFieldsProps) {
  const [quantityKindOf, qualityKindOf] = [useQuantityKinds(), useQualityKinds()];
  return (
    <>
      {operation.quantities.map((variable) => (
        <VariableField
          key={variable.kind}
          name={fieldOf("quantities", variable.kind)}
          variable={variable}
          kind={quantityKindOf(variable.kind)}
          value={amountOf(present.quantities, variable.kind)}
        />
      ))}
      {operation.qualities.map((variable) => (
        <VariableField
          key={variable.kind}
          name={fieldOf("qualities", variable.kind)}
          variable={variable}
          kind={qualityKindOf(variable.kind)}
          value={amountOf(present.qualities, variable.kind)}
        />
      ))}
      {operation.references.map((variable) => (
        <ReferenceField
          key={variable.name}
          variable={variable}
          project={project}
          present={present.references[variable.name]}
          mayReadUsed={mayReadUsed}
        />
      ))}
    </>
  );
}

interface VariableFieldProps {
  readonly name: string;
  readonly variable: QuantityVariable | QualityVariable;
  readonly kind: Kind;
  readonly value: number | undefined;
}

function VariableField({ name, variable, kind, value }: VariableFieldProps) {
  const limits = limitsOf(variable, kind.unit);
  const usual = variable.$typeName === "resources.v1alpha.QualityVariable" ? undefined : usualOf(variable);
  return (
    <AmountField
      name={name}
      kind={kind}
      hint={limits.length === 0 ? undefined : sentence(limits.join(", "))}
      required={variable.required}
      value={value}
      usual={usual}
    />
  );
}

const usualOf = ({ defaultAmount, minimum }: QuantityVariable): number | undefined => defaultAmount ?? minimum;

interface ReferenceFieldProps {
  readonly project: string;
  readonly variable: ReferenceVariable;
  /** The path of the resource that is used now. */
  readonly present: string | undefined;
  readonly mayReadUsed: boolean;
}

function ReferenceField({ variable, project, present, mayReadUsed }: ReferenceFieldProps) {
  const { name, typePath, required } = variable;
  const [picked, setPicked] = useState<{ readonly resource: Choice | undefined }>();
  // The path of what is used now has ids.
  const named = useResourceName(present ?? "", mayReadUsed && present !== undefined);
  const unchanged = present === undefined ? undefined : { value: present, label: named, note: present };
  const used = picked === undefined ? unchanged : picked.resource;
  const useChoices = useCallback(
    (words: string, open: boolean) => useResourceOfTypeChoices(project, typePath, words, open),
    [project, typePath],
  );
  return (
    <Picker
      key={unchanged?.label}
      name={fieldOf("references", name)}
      label={name}
      required={required}
      hint={resourceTexts.referenceHint}
      value={used}
      useChoices={useChoices}
      onPick={(resource) => setPicked({ resource })}
      free
    />
  );
}
