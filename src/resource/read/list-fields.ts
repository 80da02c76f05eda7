import { deletableState, deletionFilterFields, namedFilterFields } from "../../filters/common-fields.ts";
import type { FilterFields } from "../../filters/filter-fields.ts";
import { type ResourceDefinition, type ResourcePlace, isNamed, keepsDeleted, pathField } from "../definition.ts";

/** What the lists of a resource can be filtered and ordered by: what all resources of its kind have, and its own fields. */
export function listFieldsOf(definition: ResourceDefinition, place: ResourcePlace): FilterFields {
  const { table } = definition.storage;
  return {
    ...(isNamed(definition) && namedFilterFields(table)),
    ...(keepsDeleted(definition) && deletionFilterFields(table)),
    path: pathField(definition, place),
    ...definition.fields,
    ...(definition.lifecycle && { state: deletableState(table, definition.lifecycle.states) }),
  };
}
