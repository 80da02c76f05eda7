// Each unique index of rows of orgs has their customer, so that the rows of a customer can be on one node. A table that is added without it is
// named here.
import { sql } from "kysely";
import { expect, test } from "vitest";
import { useSharedDatabase } from "./shared-database.ts";

const shared = useSharedDatabase();

const onPlatform = "The catalog is on all nodes.";
const directory =
  "What the directory finds is unique on the platform, until the key of the directory alone keeps it so.";

/** By their names, the indexes without the customer. */
const exceptions: Readonly<Record<string, string>> = {
  api_keys_prefix_key: directory,
  changes_pkey: "The key of a partitioned table cannot be made of an index that was built beside writes.",
  directory_pkey: "It leads from what is unique on the platform to a customer.",
  orgs_name_key: directory,
  orgs_pkey: "Tables that are on all nodes refer to it.",
  quality_kinds_name_key: onPlatform,
  quality_kinds_pkey: onPlatform,
  quantity_kinds_name_key: onPlatform,
  quantity_kinds_pkey: onPlatform,
  resource_types_collection_key: onPlatform,
  resource_types_name_key: onPlatform,
  resource_types_pkey: onPlatform,
  role_bindings_shared_name_key: "Bindings on a customer, a service or the platform are of several orgs.",
  services_name_key: onPlatform,
  services_pkey: onPlatform,
};

test("each unique index of rows of orgs has their customer, but for those that are listed", async () => {
  const { rows } = await sql<{ name: string }>`
    select index.relname as name
    from pg_index join pg_class as index on index.oid = indexrelid join pg_class as rows on rows.oid = indrelid
    where indisunique and rows.relnamespace = 'public'::regnamespace and not rows.relispartition
      and exists (select from pg_attribute where attrelid = rows.oid and attname in ('org_id', 'customer_id'))
      and not exists (
        select from pg_attribute where attrelid = rows.oid and attnum = any (indkey)
          and attname = case rows.relname when 'role_bindings' then 'org_customer_id' else 'customer_id' end
      )
    order by index.relname collate "C"`.execute(shared().reads);
  expect(rows.map(({ name }) => name)).toEqual(Object.keys(exceptions));
});
