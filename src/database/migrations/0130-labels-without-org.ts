import type { Index } from "../migration/migration.ts";

const ofNoOrg = "where resource_type in ('Customer', 'Org')";

/**
 * The indexes of the labels of customers and orgs, which need no org. They hold whatever is in the columns of an org and a parent: the zero UUID,
 * for which servers of earlier versions look.
 */
export const indexesOfTopLabels: readonly Index[] = [
  {
    name: "resource_labels_top_key",
    definition: `on resource_labels (resource_type, key, value, resource_id, customer_id) ${ofNoOrg}`,
    unique: true,
  },
  { name: "resource_labels_top", definition: `on resource_labels (resource_type, key, resource_id) ${ofNoOrg}` },
];
