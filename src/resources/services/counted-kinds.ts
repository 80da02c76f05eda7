// The QuantityKinds that the types of a Service may count against quotas. The operator says which: who provides a service can change
// its types, and a kind that it counts is one of whose quotas it can take what is left.
import type { Transaction } from "kysely";
import type { AuthorHolds } from "../../access/evaluation/author-holds.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { Schema } from "../../database/schema.ts";
import { ServiceError, invalidFields } from "../../errors/service-error.ts";
import { patterns } from "../../paths/patterns.ts";
import { updateRow } from "../../standard-methods/rows/update-row.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { type QuantityLists, countedKinds } from "../resource-types/counted.ts";
import { findQuantityKinds } from "../quantity-kinds/store.ts";
import { resourceTypePath } from "../resource-types/message.ts";
import { selectResourceTypes } from "../resource-types/store.ts";
import { serviceDefinition } from "./definition.ts";
import { servicePath, toService } from "./message.ts";
import { type ServiceRow, selectServices } from "./store.ts";

const field = "service.counted_kinds";

/** @throws ServiceError FIELD_INVALID with a violation for each kind that does not exist. */
export async function requireKinds(db: Transaction<Schema>, kinds: readonly string[]): Promise<void> {
  const known = new Set((await findQuantityKinds(db, kinds)).map(({ name }) => name));
  const violations = kinds.flatMap((kind, index) =>
    known.has(kind)
      ? []
      : [
          {
            field: `${field}[${index}]`,
            description: `must be the name of a QuantityKind; there is none named ${JSON.stringify(kind)}`,
            rule: "kinds",
          },
        ],
  );
  if (violations.length > 0) throw invalidFields(violations);
}

/** Checks that a Service keeps the kinds that its types count. @throws ServiceError RESOURCE_IN_USE that names a kind and a type. */
export async function requireCountedKept(
  db: Transaction<Schema>,
  service: ServiceRow,
  kinds: readonly string[],
): Promise<void> {
  const removed = service.counted_kinds.filter((kind) => !kinds.includes(kind));
  if (removed.length === 0) return;
  const types = await selectResourceTypes(db).where("resource_types.service_id", "=", service.id).execute();
  for (const type of types) {
    const counted = countedKinds(type.operations);
    const kind = removed.find((each) => counted.has(each));
    if (kind === undefined) continue;
    const path = resourceTypePath(type);
    const message = `${field} must have ${kind}, which ${path} counts against quotas`;
    throw new ServiceError("RESOURCE_IN_USE", message, { metadata: { resource: servicePath(service), used_by: path } });
  }
}

/**
 * Checks that a type may count what it counts. Kinds that its Service may not count yet are added to those of the Service, if the
 * author of the write may update it.
 *
 * @param before the operations of the type before the write: what they count, it goes on counting.
 * @returns the Service after that.
 * @throws ServiceError FIELD_INVALID with a violation for each variable.
 */
export async function addCountedKinds(
  transaction: OrgTransaction,
  authorHolds: AuthorHolds,
  service: ServiceRow,
  operations: readonly QuantityLists[],
  before: readonly QuantityLists[] = [],
): Promise<ServiceRow> {
  const { db, author } = transaction;
  const known = new Set([...service.counted_kinds, ...countedKinds(before)]);
  const added = [...countedKinds(operations)].filter((kind) => !known.has(kind));
  if (added.length === 0) return service;
  const at = { pattern: patterns.Service, references: [{ by: "name", value: service.name }] } as const;
  if (await authorHolds(db, author, "resources.services.update", at)) {
    return setCountedKinds(transaction, service, [...service.counted_kinds, ...added]);
  }
  const accepted = known.size === 0 ? "none" : [...known].join(", ");
  const rule = "counted_kinds";
  const violations = operations.flatMap((operation, index) =>
    Object.entries({ quantities: operation.quantities, given_quantities: operation.givenQuantities }).flatMap(
      ([list, variables = []]) =>
        variables.flatMap(({ kind, counted }, position) => {
          if (counted !== true || !added.includes(kind)) return [];
          const description = `must be false: ${servicePath(service)} may not count ${kind} against quotas; its counted_kinds, which the operator sets, has ${accepted}`;
          return [
            {
              field: `resource_type.operations[${index}].${list}[${position}].counted`,
              description,
              rule,
            },
          ];
        }),
    ),
  );
  throw invalidFields(violations);
}

/** Removes kinds that are deleted from all Services: another one with the same name is none that they may count. */
export async function forgetKinds(transaction: OrgTransaction, names: readonly string[]): Promise<void> {
  // A cloud has few services.
  const services = await selectServices(transaction.db).execute();
  for (const service of services) {
    const kept = service.counted_kinds.filter((kind) => !names.includes(kind));
    if (kept.length < service.counted_kinds.length) await setCountedKinds(transaction, service, kept);
  }
}

async function setCountedKinds(
  transaction: OrgTransaction,
  service: ServiceRow,
  kinds: readonly string[],
): Promise<ServiceRow> {
  const { db, org, revision, time } = transaction;
  const change = { fields: toService(service), columns: { counted_kinds: [...kinds] } };
  const target = { db, org, revision, time };
  const after = { ...service, ...(await updateRow(target, serviceDefinition, service, change)) };
  recordChange(transaction, serviceDefinition, service, after);
  return after;
}
