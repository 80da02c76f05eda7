import { QuantityKindSchema, QuantityKindsService } from "../../../gen/resources/v1alpha/quantity_kind_pb.ts";
import { text } from "../../filters/filter-fields.ts";
import { patterns } from "../../paths/patterns.ts";
import { defineResource, levelOf } from "../../standard-methods/definition/definition.ts";
import { quantityKindPath, toQuantityKind } from "./message.ts";
import { quantityKindColumns, selectQuantityKinds } from "./store.ts";

export const quantityKindDefinition = defineResource({
  type: "QuantityKind",
  service: QuantityKindsService,
  schema: QuantityKindSchema,
  label: { one: "quantity kind", many: "quantity kinds" },
  places: [{ pattern: patterns.QuantityKind, parents: [] }],
  storage: {
    table: "quantity_kinds",
    key: ["id"],
    id: "id",
    columns: quantityKindColumns,
    unread: [],
    select: selectQuantityKinds,
    called: levelOf("quantity_kinds", false),
    references: [{ column: "org_id", to: "Org", onDelete: "cascade" }],
    countedBy: undefined,
    labels: "unindexed",
    nameConstraints: ["quantity_kinds_name_key"],
  },
  toMessage: toQuantityKind,
  pathOf: quantityKindPath,
  logged: { joinedById: () => ({}) },
  fields: { unit: text("quantity_kinds.unit") },
  lifecycle: undefined,
  limit: undefined,
  responses: { revalidatedBy: ["system"] },
  access: { namedIn: "unnamed", heldBy: {}, notByAdmin: [] },
});
