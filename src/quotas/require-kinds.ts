import type { Transaction } from "kysely";
import type { Schema } from "../database/schema.ts";
import { mapEntry } from "../errors/map-entry.ts";
import { type FieldViolation, invalidFields } from "../errors/service-error.ts";
import { maxViolations } from "../validation/validate-message.ts";
import { lockKinds } from "./kinds.ts";

/** What is wrong with the limit of a kind that does not exist. */
export const unknownKind =
  "must be the limit of a QuantityKind, but none has this name; /resources/v1alpha/quantityKinds has all";

/**
 * Checks that the kinds of limits exist, and locks them against their deletion until the transaction ends.
 *
 * @param field the map of the request that holds the limits, for errors.
 * @throws ServiceError FIELD_INVALID that names each limit of a kind that does not exist.
 */
export async function requireKinds(db: Transaction<Schema>, kinds: readonly string[], field: string): Promise<void> {
  const known = await lockKinds(db, kinds);
  const missing = kinds.filter((kind) => !known.has(kind));
  const violations = missing.map((kind): FieldViolation => ({
    field: mapEntry(field, kind),
    description: unknownKind,
    rule: "quota.kind",
  }));
  if (violations.length > 0) throw invalidFields(violations.slice(0, maxViolations));
}
