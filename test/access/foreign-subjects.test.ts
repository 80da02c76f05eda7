// Whoever may ask about a resource learns nothing about members of orgs that it has nothing to do with.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { failureOf } from "../support/failure.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { type CastMember, type OrgCast, createOrgCast } from "./org-cast.ts";

let server: TestServer;
let ours: OrgCast;
let theirs: OrgCast;
let viewer: CastMember;
beforeAll(async () => {
  server = await startTestServer();
  ours = await createOrgCast("gRPC", server);
  theirs = await createOrgCast("gRPC", server);
  viewer = await ours.member("viewer", "/roles/viewer");
  await theirs.member("alice", "/roles/owner");
});
afterAll(() => server.close());

const permission = "iam.members.get";
/** A member of another org, one who is not there, and one of no org. */
const subjects = () => [
  `${theirs.org.path}/members/alice`,
  `${theirs.org.path}/members/nobody`,
  "/orgs/no-such-org/members/alice",
  "/orgs/system/members/operator",
];

describe("of a member of another org", () => {
  test("a check is answered as of one who is nowhere", async () => {
    for (const subjectPath of subjects()) {
      const answer = await viewer.access.checkAccess({ subjectPath, permission, resourcePath: ours.org.path });
      expect(answer).toMatchObject({ allowed: false, revision: "" });
    }
  });

  test("what it may is as little as of one who is nowhere", async () => {
    for (const subjectPath of subjects()) {
      const answer = await viewer.access.listResources({ subjectPath, permission, parentPath: ours.org.path });
      expect(answer).toMatchObject({ resourcePaths: [], revision: "" });
    }
  });

  test("nothing is explained", async () => {
    for (const subjectPath of subjects()) {
      const call = viewer.access.explainAccess({ subjectPath, permission, resourcePath: ours.org.path });
      expect(await failureOf(call)).toMatchObject({ code: "NotFound", message: `there is no member ${subjectPath}` });
    }
  });
});

test("a caller who may check on the platform gets all", async () => {
  const [subjectPath = ""] = subjects();
  const answer = await ours.access.checkAccess({ subjectPath, permission, resourcePath: theirs.org.path });
  expect(answer.allowed).toBe(true);
});
