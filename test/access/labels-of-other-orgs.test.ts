// A condition of a role binding on a customer or on the platform sees the labels of projects and orgs that the subject is not in.
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Org } from "../../gen/iam/v1alpha/org_pb.ts";
import { createAccessClient } from "../support/access-place.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { type CastMember, type OrgCast, createOrgCast } from "./org-cast.ts";

const unmarked = '!("mark" in resource.labels)';
const marked = 'resource.labels["mark"] == "x"';
const mark = { mark: "x" };

let server: TestServer;
let cast: OrgCast;
/** Orgs of the same customer, each with the projects `plain` and `marked`. */
let plainOrg: Org;
let markedOrg: Org;
beforeAll(async () => {
  server = await startTestServer();
  cast = await createOrgCast("gRPC", server);
  plainOrg = await createOrg({});
  markedOrg = await createOrg(mark);
});
afterAll(() => server.close());

async function createOrg(labels: Record<string, string>): Promise<Org> {
  const { customerPath } = cast.org;
  const org = await cast.api.orgs.createOrg({ org: { name: uniqueName("sibling"), customerPath, labels } });
  const parentPath = org.path;
  await cast.api.projects.createProject({ parentPath, project: { name: "plain" } });
  await cast.api.projects.createProject({ parentPath, project: { name: "marked", labels: mark } });
  return org;
}

/** Creates a member of the org of the cast, with a role on the customer. */
async function createAuditor(condition: string): Promise<CastMember> {
  const auditor = await cast.member(uniqueName("auditor"));
  await cast.grant(cast.org.customerPath, auditor.path, "/roles/admin", { condition });
  return auditor;
}

/** Creates a member of the org `system`, with a role on the platform. */
async function createSupporter(condition: string): Promise<CastMember> {
  const member = { name: uniqueName("supporter") };
  const { path } = await cast.api.members.createMember({ parentPath: "/orgs/system", member });
  await cast.grant("", path, "/roles/admin", { condition });
  const { secret } = await cast.api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "key" } });
  return {
    path,
    api: createApi("gRPC", server.url, secret),
    access: createAccessClient("gRPC", server.url, secret),
  };
}

/** Reports whether a call succeeds. A call that fails must be denied. */
const succeeds = (call: Promise<unknown>): Promise<boolean> =>
  call.then(
    () => true,
    (error: unknown) => {
      expect(error).toMatchObject({ code: Code.PermissionDenied });
      return false;
    },
  );

async function evaluate(subjectPath: string, permission: string, resourcePath: string): Promise<unknown> {
  const type = resourcePath.includes("/projects/") ? "project" : "org";
  const response = await fetch(`${server.url}/access/v1/evaluation`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.operatorKey}`, "content-type": "application/json" },
    body: JSON.stringify({
      subject: { type: "member", id: subjectPath },
      action: { name: permission },
      resource: { type, id: resourcePath },
    }),
  });
  return ((await response.json()) as { readonly decision: unknown }).decision;
}

/** Returns what each way to use or to ask about a permission on a project or an org answers. */
async function answersOn({ path: subjectPath, api }: CastMember, path: string) {
  const isProject = path.includes("/projects/");
  const permission = isProject ? "iam.projects.get" : "iam.orgs.get";
  const description = uniqueName("changed");
  return {
    check: await cast.may(subjectPath, permission, path),
    explanation: (await cast.access.explainAccess({ subjectPath, permission, resourcePath: path })).allowed,
    evaluation: await evaluate(subjectPath, permission, path),
    get: await succeeds(isProject ? api.projects.getProject({ path }) : api.orgs.getOrg({ path })),
    update: await succeeds(
      isProject
        ? api.projects.updateProject({ path, project: { description }, updateMask: { paths: ["description"] } })
        : api.orgs.updateOrg({ path, org: { description }, updateMask: { paths: ["description"] } }),
    ),
  };
}

const all = (answer: boolean) => ({
  check: answer,
  explanation: answer,
  evaluation: answer,
  get: answer,
  update: answer,
});

async function listed({ path: subjectPath }: CastMember, parentPath: string): Promise<readonly string[]> {
  const question = { subjectPath, permission: "iam.projects.get", parentPath };
  return (await cast.access.listResources(question)).resourcePaths.map((path) => path.slice(parentPath.length));
}

describe.each([
  ["a customer", createAuditor],
  ["the platform", createSupporter],
])("a condition on %s", (_where, createMember) => {
  test.each([
    ["denies labelled ones", unmarked, false],
    ["allows only labelled ones", marked, true],
  ])("%s, and the labels of a project win over those of its org", async (_title, condition, allowsMarked) => {
    const member = await createMember(condition);
    for (const org of [plainOrg, markedOrg]) {
      expect(await answersOn(member, org.path)).toEqual(all((org === markedOrg) === allowsMarked));
      expect(await answersOn(member, `${org.path}/projects/plain`)).toEqual(all(!allowsMarked));
      expect(await answersOn(member, `${org.path}/projects/marked`)).toEqual(all(allowsMarked));
      expect(await listed(member, org.path)).toEqual([allowsMarked ? "/projects/marked" : "/projects/plain"]);
    }
  });

  test("sees a change of the labels with the next call", async () => {
    const member = await createMember(unmarked);
    const { path } = await cast.api.projects.createProject({
      parentPath: plainOrg.path,
      project: { name: uniqueName("changing") },
    });
    const relabel = (labels: Record<string, string>) =>
      cast.api.projects.updateProject({ path, project: { labels }, updateMask: { paths: ["labels"] } });
    for (const [labels, answer] of [
      [mark, false],
      [{}, true],
      [mark, false],
    ] as const) {
      await relabel(labels);
      expect(await answersOn(member, path)).toEqual(all(answer));
      expect((await listed(member, plainOrg.path)).includes(path.slice(plainOrg.path.length))).toBe(answer);
    }
    await cast.api.projects.deleteProject({ path });
  });
});
