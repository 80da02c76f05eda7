import type { QualityVariable, QuantityVariable } from "../../../../gen/resources/v1alpha/resource_type_pb.ts";
import { resourceTexts } from "../../texts/resource-texts.ts";
import { writeAmount } from "../../ui/amount.ts";

/** Says which amounts of a Quantity, or which grades of a Quality, an operation accepts, point by point. */
export function limitsOf(variable: QuantityVariable | QualityVariable, unit: string): string[] {
  const { variable: words } = resourceTexts;
  if (variable.$typeName === "resources.v1alpha.QualityVariable")
    return [variable.maximum === undefined ? words.grade : words.gradeTo(variable.maximum)];
  const { minimum, maximum, step, defaultAmount } = variable;
  const write = (amount: number): string => writeAmount(amount, unit);
  return [
    ...(minimum === undefined ? [] : [words.from(write(minimum))]),
    ...(maximum === undefined ? [] : [words.to(write(maximum))]),
    ...(step === undefined ? [] : [words.step(write(step))]),
    ...(defaultAmount === undefined ? [] : [words.usual(write(defaultAmount))]),
  ];
}
