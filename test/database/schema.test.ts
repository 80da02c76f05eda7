import { expect, test } from "vitest";
import { listOtherObjects, renderSchema } from "./render-schema.ts";
import { useSharedDatabase } from "./shared-database.ts";

const shared = useSharedDatabase();

test("src/database/schema.sql is what the migrations add up to", async () => {
  const database = shared();
  const schema = await renderSchema(database.reads);
  const head =
    "-- What the migrations add up to, for those who read. Made by test/database/schema.test.ts; do not edit.\n";
  await expect(`${head}\n${schema}`).toMatchFileSnapshot("../../src/database/schema.sql");
});

test("the migrations make nothing but tables, indexes and triggers, which is all that the dump shows", async () => {
  const database = shared();
  expect(await listOtherObjects(database.reads)).toEqual([]);
});
