// The least revision that an answer is asked for at.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AccessPlace, createAccessPlace } from "../support/access-place.ts";
import { failureOf } from "../support/failure.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const permission = "compute.instances.start";

describe.each(["gRPC", "REST"] as const)("over %s", (protocol) => {
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

  test.each(Object.entries(questions))(
    "%s answers at it or later, and refuses one that is still to come",
    async (name, ask) => {
      const { revision } = await ask("");
      expect(BigInt(revision)).toBeGreaterThan(0n);
      expect((await ask(revision)).revision).toBe(revision);
      expect((await ask("1")).revision).toBe(revision);
      const field = name === "BatchCheckAccess" ? "checks[1].revision" : "revision";
      expect(await failureOf(ask(String(BigInt(revision) + 1n)))).toMatchObject({
        code: "InvalidArgument",
        fields: [field],
        message: expect.stringContaining(`current revision is ${revision}`) as string,
      });
      expect(await failureOf(ask("soon"))).toMatchObject({ code: "InvalidArgument", fields: [field] });
    },
  );
});
