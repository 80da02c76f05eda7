// The methods that read predefined roles. There are few, in memory, so that their list needs neither filters nor orders.
import type { Reference } from "../../paths/parse-path.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { otherPatterns } from "../../paths/patterns.ts";
import { invalidField, notFound } from "../../errors/service-error.ts";
import { type Page, type PageRequest, listPage } from "../../standard-methods/read/list-page.ts";
import type { PageTokens } from "../../standard-methods/read/page-token.ts";
import type { PredefinedRole } from "./predefined-roles.ts";

/** @throws ServiceError RESOURCE_NOT_FOUND */
export function getPredefinedRole(roles: readonly PredefinedRole[], reference: Reference): PredefinedRole {
  const found = roles.find((role) => reference.by !== "any" && role[reference.by] === reference.value);
  if (found === undefined) throw notFound("role", formatReferences(otherPatterns.predefinedRole, [reference]));
  return found;
}

interface ListRequest extends PageRequest {
  readonly filter: string;
  readonly orderBy: string;
}

/** @throws ServiceError FIELD_INVALID when a filter or an order is set. */
export async function listPredefinedRoles(
  roles: readonly PredefinedRole[],
  pageTokens: PageTokens,
  { filter, orderBy, ...page }: ListRequest,
): Promise<Page<PredefinedRole>> {
  for (const [field, value] of Object.entries({ filter, order_by: orderBy })) {
    if (value !== "")
      throw invalidField(field, "must be empty: the list of predefined roles cannot be filtered or ordered");
  }
  const read = (after: readonly string[] | undefined, limit: number): Promise<PredefinedRole[]> => {
    const start = after === undefined ? 0 : roles.findIndex(({ id }) => id === after[0]) + 1;
    return Promise.resolve(roles.slice(start, start + limit));
  };
  return listPage(pageTokens, page, ["Role", "predefined"], read, ({ id }) => [id]);
}
