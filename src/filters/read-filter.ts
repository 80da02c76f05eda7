import { checkFilter } from "./check-filter.ts";
import type { Condition } from "./condition.ts";
import type { FilterFields } from "./filter-fields.ts";
import { parseFilter } from "./parse-filter.ts";

/**
 * Parses and checks the `filter` of a List request. An empty filter matches everything.
 *
 * @throws ServiceError FIELD_INVALID for `filter`, with the column and what was expected there.
 */
export function readFilter(text: string, fields: FilterFields): Condition {
  const node = parseFilter(text);
  return node === undefined ? { kind: "all", conditions: [] } : checkFilter(node, fields);
}
