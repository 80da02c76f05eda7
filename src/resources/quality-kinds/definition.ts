import { QualityKindSchema, QualityKindsService } from "../../../gen/resources/v1alpha/quality_kind_pb.ts";
import { patterns } from "../../paths/patterns.ts";
import { defineResource, levelOf } from "../../standard-methods/definition/definition.ts";
import { qualityKindPath, toQualityKind } from "./message.ts";
import { qualityKindColumns, selectQualityKinds } from "./store.ts";

export const qualityKindDefinition = defineResource({
  type: "QualityKind",
  service: QualityKindsService,
  schema: QualityKindSchema,
  label: { one: "quality kind", many: "quality kinds" },
  places: [{ pattern: patterns.QualityKind, parents: [] }],
  storage: {
    table: "quality_kinds",
    key: ["id"],
    id: "id",
    columns: qualityKindColumns,
    unread: [],
    select: selectQualityKinds,
    called: levelOf("quality_kinds", false),
    references: [{ column: "org_id", to: "Org", onDelete: "cascade" }],
    countedBy: undefined,
    labels: "unindexed",
    nameConstraints: ["quality_kinds_name_key"],
  },
  toMessage: toQualityKind,
  pathOf: qualityKindPath,
  logged: { joinedById: () => ({}) },
  fields: {},
  lifecycle: undefined,
  limit: undefined,
  responses: { revalidatedBy: ["system"] },
  access: { namedIn: "unnamed", heldBy: {}, notByAdmin: [] },
});
