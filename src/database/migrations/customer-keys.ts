import type { Index } from "../migration/migration.ts";

/**
 * The keys, led by the customer, of the tables that change under the lock of a customer or by jobs, and have no foreign key that needs the
 * old one. The scopes of a customer have ids of their own, so a quota needs no org in its key.
 */
export const customerKeys: readonly Index[] = [
  {
    name: "allocations_customer_key",
    definition: "on allocations (customer_id, org_id, resource_id, kind)",
    unique: true,
  },
  { name: "quotas_customer_key", definition: "on quotas (customer_id, scope_id, kind)", unique: true },
  // Those of an org are removed with it.
  { name: "quotas_org", definition: "on quotas (customer_id, org_id)" },
  { name: "sweeps_customer_key", definition: "on sweeps (customer_id, org_id, scope_id)", unique: true },
];
