import type { QuantityKind } from "../../../gen/resources/v1alpha/quantity_kind_pb.ts";
import { formatPath } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { namedFields } from "../../standard-methods/named-fields.ts";
import type { QuantityKindRow } from "./store.ts";

export function toQuantityKind(row: QuantityKindRow): QuantityKind {
  return {
    $typeName: "resources.v1alpha.QuantityKind",
    path: quantityKindPath(row),
    ...namedFields(row),
    unit: row.unit,
    step: Number(row.step),
  };
}

export function quantityKindPath({ name }: Pick<QuantityKindRow, "name">): string {
  return formatPath(patterns.QuantityKind, name);
}
