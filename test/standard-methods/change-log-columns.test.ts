// Tests which columns of each resource the change log has: those that its definition names, and no others.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keepsDeleted } from "../../src/standard-methods/definition/definition.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { openWorkplace } from "../support/workplace.ts";
import { isRunByProvider, maskOf, writtenResources } from "../support/written-resources.ts";

let server: SharedServer;
let sql: SqlClient;
beforeAll(async () => {
  server = await sharedServer();
  sql = await openSqlClient(server.databaseUrl);
});
afterAll(async () => {
  await sql.close();
});

const cases = writtenResources.map((resource) => ({ name: resource.name, resource }));

const columnsIn = (row: unknown): string[] | null => (row === null ? null : Object.keys(row as object).toSorted());

describe.each(cases)("$name", ({ resource }) => {
  const { type, definition, change } = resource;

  test("writes lines with the columns of its definition when it is created, updated and deleted", async () => {
    const place = await openWorkplace(resource, createApi("gRPC", server.url, server.operatorKey));
    const name = uniqueName("item");
    await place.makeWay(name);
    const { path, id } = await place.create(name);
    await place.update(path, change, { updateMask: maskOf(change) });
    await place.delete(path);
    const lines = await sql.query(
      "select before, after from changes where resource_type = $1 and resource_id = $2 order by revision, position",
      [type, id],
    );
    const logged = lines.map(({ before, after }) => ({ before: columnsIn(before), after: columnsIn(after) }));
    const columns = [...definition.storage.columns].toSorted();
    expect(columns).not.toContain("hash");
    expect(columns).not.toContain("revision");
    const [first, ...rest] = logged;
    expect(first).toEqual({ before: null, after: columns });
    const isKept = keepsDeleted(definition) && !isRunByProvider(resource);
    expect(rest.pop()).toEqual({ before: columns, after: isKept ? columns : null });
    // A provider's part in creating and deleting a resource changes it, too.
    expect(rest).toEqual(
      Array.from({ length: isRunByProvider(resource) ? 3 : 1 }, () => ({ before: columns, after: columns })),
    );
  });
});
