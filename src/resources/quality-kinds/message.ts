import type { QualityKind } from "../../../gen/resources/v1alpha/quality_kind_pb.ts";
import { formatPath } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { namedFields } from "../../standard-methods/named-fields.ts";
import type { QualityKindRow } from "./store.ts";

export function toQualityKind(row: QualityKindRow): QualityKind {
  return {
    $typeName: "resources.v1alpha.QualityKind",
    path: qualityKindPath(row),
    ...namedFields(row),
    highestGrade: row.highest_grade,
  };
}

export function qualityKindPath({ name }: Pick<QualityKindRow, "name">): string {
  return formatPath(patterns.QualityKind, name);
}
