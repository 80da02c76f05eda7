// Entries of the log from before their containers were kept get them, for each type of resource.
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { fillBatch } from "../../src/database/migration/fills.ts";
import { fillContainers } from "../../src/database/migrations/0065-containers.ts";
import { webhookPlaces } from "../../src/events/webhooks/places.ts";
import { contactPlaces } from "../../src/iam/contacts/places.ts";
import { registry } from "../../src/resource-registry.ts";
import type { ResourcePlace } from "../../src/standard-methods/definition/definition.ts";
import { changeOf } from "../../src/standard-methods/write/append-change.ts";
import { openTestDatabase } from "../support/test-database.ts";
import { addOrg } from "./sample-rows.ts";

interface Entry {
  readonly type: string;
  readonly id: string;
  readonly columns: object;
  readonly isRemoved: boolean;
  readonly container: string | null;
}

/** Places that no entry without a container can be of: they came later. */
const later: ReadonlySet<ResourcePlace> = new Set([webhookPlaces.customer, contactPlaces.customer]);

/** Returns an entry for each place of each type, with what this version would write as its container. */
function entriesOfEachType(): Entry[] {
  return registry.definitions.flatMap((definition) =>
    definition.places.flatMap((place): Entry[] => {
      if (later.has(place)) return [];
      const { parents } = place;
      const id = randomUUID();
      const columns = Object.fromEntries([
        [definition.storage.id, id],
        ...parents.map(({ column }) => [column, randomUUID()]),
      ]);
      // Paths are made of names, which do not matter here.
      const withoutPath = { ...definition, pathOf: () => "/" };
      const { containerId: container, id: own } = changeOf(withoutPath, null, columns);
      return [true, false].map((isRemoved) => ({ type: definition.type, id: own, columns, isRemoved, container }));
    }),
  );
}

test("a fill sets what contains the resource of entries that have no container, by what they say of it", async () => {
  const database = await openTestDatabase();
  const org = await addOrg(database, "acme");
  const memberId = randomUUID();
  const entries: Entry[] = [
    ...entriesOfEachType(),
    { type: "Token", id: randomUUID(), columns: { member_id: memberId }, isRemoved: true, container: memberId },
    { type: "Quota", id: org.id, columns: { limits: {} }, isRemoved: false, container: org.id },
    // What they say is not enough.
    { type: "ApiKey", id: randomUUID(), columns: {}, isRemoved: false, container: null },
  ];
  for (const [position, { type, id, columns, isRemoved }] of entries.entries()) {
    const json = JSON.stringify(columns);
    await sql`
      insert into changes (customer_id, org_id, revision, position, time, format, method, resource_type, resource_id, resource_path,
        before, after)
      values (${org.customer_id}, ${org.id}, ${"00000000-0000-0099-8000-000000000000"}, ${position}, now(), 3, 'method', ${type}, ${id}, '/',
        ${isRemoved ? json : null}, ${isRemoved ? null : json})`.execute(database.writes);
  }
  await sql`insert into fills (name) values ('again')`.execute(database.writes);
  while ((await fillBatch(database.writes, "again", fillContainers, 7)) !== "ended");
  const { rows } = await sql<{ container_id: string | null }>`
    select container_id from changes where org_id = ${org.id} and format = 3 order by position`.execute(database.reads);
  expect(rows.map(({ container_id: container }, index) => [entries[index]?.type, container])).toEqual(
    entries.map(({ type, container }) => [type, container]),
  );
});
