import { deletableState, deletionFilterFields, namedFilterFields } from "../../filters/common-fields.ts";
import type { FilterFields } from "../../filters/filter-fields.ts";
import {
  type ResourceDefinition,
  type ResourcePlace,
  isNamed,
  keepsDeleted,
  pathField,
} from "../definition/definition.ts";

/** Returns the fields by which lists of a resource can be filtered and ordered: the common fields and its own. */
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
