import { type FieldViolation, ServiceError, invalidFields } from "../../errors/service-error.ts";
import { maxViolations } from "../validate-message.ts";

/** The field of a request that holds its items. */
export type ItemList = "requests" | "paths";

/** Does what one item of a batch asks for; an error says which item it was. */
export type AtItem = <Result>(index: number, run: () => Promise<Result>) => Promise<Result>;

/** For one that is no item of a batch. */
export const alone: AtItem = (_index, run) => run();

export function atItemOf(list: ItemList): AtItem {
  return async (index, run) => {
    try {
      return await run();
    } catch (error) {
      throw error instanceof ServiceError ? errorAt(error, list, index) : error;
    }
  };
}

/** Makes something of each item, in order. */
export async function mapItems<Item, Result>(
  items: readonly Item[],
  atItem: AtItem,
  map: (item: Item, index: number) => Result | Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const [index, item] of items.entries()) results.push(await atItem(index, async () => map(item, index)));
  return results;
}

/** The error of an item: its fields are named from the request on, `requests[3].member.name`; others get an `index`. */
export function errorAt(error: ServiceError, list: ItemList, index: number): ServiceError {
  const { reason, message, violations, quotas, metadata, cause } = error;
  if (reason === "FIELD_INVALID" || reason === "PATH_INVALID") {
    const fields = violations.map((violation) => ({ ...violation, field: `${list}[${index}].${violation.field}` }));
    return invalidFields(fields, reason);
  }
  return new ServiceError(reason, message, { quotas, metadata: { ...metadata, index: String(index) }, cause });
}

/**
 * Looks at all items, so that one error tells what is wrong with any of them.
 *
 * @param check throws a ServiceError with violations for an item that is wrong.
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
