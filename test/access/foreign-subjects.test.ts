// Callers who can check access on a resource learn nothing about members of other orgs.
import { beforeAll, describe, expect, test } from "vitest";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { type CastMember, type OrgCast, createOrgCast } from "./org-cast.ts";

let server: SharedServer;
let ours: OrgCast;
let theirs: OrgCast;
let viewer: CastMember;
beforeAll(async () => {
  server = await sharedServer();
  ours = await createOrgCast("gRPC", server);
  theirs = await createOrgCast("gRPC", server);
  viewer = await ours.member("viewer", "/roles/viewer");
  await theirs.member("alice", "/roles/owner");
});

const permission = "iam.members.get";
/** A member of another org, a missing member, one of a missing org, and the operator. */
const subjects = () => [
  `${theirs.org.path}/members/alice`,
  `${theirs.org.path}/members/nobody`,
  "/orgs/no-such-org/members/alice",
  "/orgs/system/members/operator",
];

describe("for a member of another org", () => {
  test("a check returns the same as for a missing member", async () => {
    for (const subjectPath of subjects()) {
      const answer = await viewer.access.checkAccess({ subjectPath, permission, resourcePath: ours.org.path });
      expect(answer).toMatchObject({ allowed: false, revision: "" });
    }
  });

  test("a list of resources is empty, as for a missing member", async () => {
    for (const subjectPath of subjects()) {
      const answer = await viewer.access.listResources({ subjectPath, permission, parentPath: ours.org.path });
      expect(answer).toMatchObject({ resourcePaths: [], revision: "" });
    }
  });

  test("an explanation fails with NOT_FOUND", async () => {
    for (const subjectPath of subjects()) {
      const call = viewer.access.explainAccess({ subjectPath, permission, resourcePath: ours.org.path });
      expect(await failureOf(call)).toMatchObject({ code: "NotFound", message: `there is no member ${subjectPath}` });
    }
  });
});

test("a caller who can check access on the platform gets the real decision", async () => {
  const [subjectPath = ""] = subjects();
  const answer = await ours.access.checkAccess({ subjectPath, permission, resourcePath: theirs.org.path });
  expect(answer.allowed).toBe(true);
});
