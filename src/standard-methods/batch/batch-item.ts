import { type FieldViolation, ServiceError, invalidFields } from "../../errors/service-error.ts";
import { maxViolations } from "../../validation/validate-message.ts";

/** The request field that holds the items. */
export type ItemList = "requests" | "paths";

/** Runs the operation of one batch item. An error names the item. */
export type AtItem = <Result>(index: number, run: () => Promise<Result>) => Promise<Result>;

/** The `AtItem` of a single request. */
export const alone: AtItem = (_index, run) => run();

export function atItemOf(list: ItemList): AtItem {
  return async (index, run) => {
    try {
      return await run();
    } catch (error) {
      throw error instanceof ServiceError ? errorAtItem(error, list, index) : error;
    }
  };
}

/** Maps each item, in order. */
export async function mapItems<Item, Result>(
  items: readonly Item[],
  atItem: AtItem,
  map: (item: Item, index: number) => Result | Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const [index, item] of items.entries()) results.push(await atItem(index, async () => map(item, index)));
  return results;
}

/** Returns an error with its item: field names start at the request, `requests[3].member.name`; other errors get an `index`. */
export function errorAtItem(error: ServiceError, list: ItemList, index: number): ServiceError {
  const { reason, message, violations, quotas, metadata, cause } = error;
  if (reason === "FIELD_INVALID" || reason === "PATH_INVALID") {
    const fields = violations.map((violation) => ({ ...violation, field: `${list}[${index}].${violation.field}` }));
    return invalidFields(fields, reason);
  }
  return new ServiceError(reason, message, { quotas, metadata: { ...metadata, index: String(index) }, cause });
}

/**
 * Checks all items and reports all violations in one error.
 *
 * @param check throws a ServiceError with violations for an invalid item.
 */
export async function checkItems<Item, Result>(
  items: readonly Item[],
  check: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const checked = await Promise.allSettled(items.map(async (item, index) => check(item, index)));
  const violations: FieldViolation[] = [];
  for (const outcome of checked) {
    if (outcome.status === "fulfilled") continue;
    const error: unknown = outcome.reason;
    if (!(error instanceof ServiceError) || error.violations.length === 0) throw error;
    violations.push(...error.violations);
  }
  if (violations.length > 0) throw invalidFields(violations.slice(0, maxViolations));
  return checked.map((outcome) => (outcome as PromiseFulfilledResult<Result>).value);
}
