// Tests the field for the revision that a response must include.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AccessPlace, createAccessPlace } from "../support/access-place.ts";
import { nextRevision } from "../../src/changes/revision.ts";
import { failureOf } from "../support/failure.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { overFirst } from "../support/transports.ts";

let server: SharedServer;
let sql: SqlClient;
beforeAll(async () => {
  server = await sharedServer();
  sql = await openSqlClient(server.databaseUrl);
});
afterAll(async () => {
  await sql.close();
});

const permission = "compute.instances.start";

describe.each(overFirst(["gRPC", "REST"]))("over %s", (protocol) => {
  let place: AccessPlace;
  beforeAll(async () => {
    place = await createAccessPlace(protocol, server.url, server.operatorKey);
  });

  const questions = {
    CheckAccess: (revision: string) =>
      place.access.checkAccess({ subjectPath: place.alice, permission, resourcePath: place.web, revision }),
    BatchCheckAccess: async (revision: string) => {
      const check = { subjectPath: place.alice, permission, resourcePath: place.web };
      const { results } = await place.access.batchCheckAccess({ checks: [check, { ...check, revision }] });
      return { revision: results[1]?.revision ?? "" };
    },
    ListSubjects: (revision: string) => place.access.listSubjects({ permission, resourcePath: place.web, revision }),
    ListResources: (revision: string) =>
      place.access.listResources({ subjectPath: place.alice, permission, parentPath: place.org.path, revision }),
    TestPermissions: (revision: string) =>
      place.access.testPermissions({ permissions: [permission], resourcePath: place.web, revision }),
    ExplainAccess: (revision: string) =>
      place.access.explainAccess({ subjectPath: place.alice, permission, resourcePath: place.web, revision }),
  };

  test.each(Object.entries(questions))("%s includes it, and refuses one of another history", async (name, ask) => {
    const { revision } = await ask("");
    expect((await ask(revision)).revision).toBe(revision);
    // The server reads what it no longer has in memory from the change log.
    const asked = name === "TestPermissions" ? "system" : place.org.name;
    const [first] = await sql.query(
      "select changes.revision from changes join orgs on orgs.id = org_id where name = $1 order by 1 limit 1",
      [asked],
    );
    expect((await ask(String(first?.["revision"]))).revision).toBe(revision);
    const field = name === "BatchCheckAccess" ? "checks[1].revision" : "revision";
    const other = await place.api.orgs.createOrg({ org: { name: `${protocol.toLowerCase()}-${name.toLowerCase()}` } });
    const lost = `${revision.slice(0, -1)}${revision.endsWith("0") ? "1" : "0"}`;
    for (const foreign of [other.etag, nextRevision(revision), lost, "soon"]) {
      expect(await failureOf(ask(foreign))).toMatchObject({
        code: "InvalidArgument",
        fields: [field],
        message: expect.stringContaining("the Org's history does not have it") as string,
      });
    }
  });
});
