// Tests that answers about a resource are of the revision that they name, also if they wait for a change of the org before they begin.
import { create } from "@bufbuild/protobuf";
import { type HandlerContext, createContextValues } from "@connectrpc/connect";
import { beforeAll, expect, test } from "vitest";
import { ExplainAccessRequestSchema, ListSubjectsRequestSchema } from "../../../gen/iam/v1alpha/access_pb.ts";
import { loadRows } from "../../../src/access/engine/loading/load-rows.ts";
import { setCall } from "../../../src/access/evaluation/call.ts";
import { createAccessEvaluator } from "../../../src/access/evaluation/evaluator.ts";
import type { Database } from "../../../src/database/database.ts";
import type { AccessDependencies } from "../../../src/iam/access-checks/dependencies.ts";
import { createExplainAccess } from "../../../src/iam/access-checks/explain-access.ts";
import { createListSubjects } from "../../../src/iam/access-checks/list-subjects.ts";
import { createCallSlices } from "../../../src/scheduling/call-slices.ts";
import { createPageTokens } from "../../../src/standard-methods/read/page-token.ts";
import { createSampleSnapshot, names, now, web } from "../../access/sample-snapshot.ts";
import { openOwnDatabase } from "../../support/test-database.ts";

let database: Database;
beforeAll(async () => {
  const opened = await openOwnDatabase();
  database = opened.database;
  return opened.close;
});

const permission = "compute.instances.start";
const asked = { permission, resourcePath: "/orgs/acme/projects/web" };

/** A question about what is in a project that is suspended while the question waits for that. */
function suspendMeanwhile() {
  const snapshot = createSampleSnapshot({ starter: { permissions: [permission] } }, [{ role: "starter" }]);
  const dependencies = {
    database,
    evaluator: createAccessEvaluator({ database, ...names, recordUse: () => {}, systemOrgId: "" }),
    subjectOrgs: { confirm: () => Promise.resolve({ snapshot, now }) },
    requireReached: () => Promise.resolve(),
    pageTokens: createPageTokens(new Uint8Array(32)),
    knownPermissions: [],
    installation: { systemOrgId: "" },
  } as unknown as AccessDependencies;
  const context = { values: createContextValues() } as HandlerContext;
  setCall(context.values, { caller: { orgId: "" }, slices: createCallSlices(() => undefined) } as never);
  const ask = async <Answer>(question: () => Promise<Answer>): Promise<Answer> => {
    const release = await snapshot.readHold.hold();
    const change = snapshot.readHold.change(() => {
      loadRows(snapshot, { projects: [{ id: web, name: "web", state: "SUSPENDED" }] });
      snapshot.advanceTo("8");
    });
    const answer = question();
    // Until it waits for the change.
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    release();
    await change;
    return answer;
  };
  return { dependencies, context, ask };
}

test("a list of who may access a project that was suspended meanwhile is empty", async () => {
  const { dependencies, context, ask } = suspendMeanwhile();
  const request = create(ListSubjectsRequestSchema, asked);
  const answer = await ask(() => createListSubjects(dependencies)(request, context));
  expect(answer).toMatchObject({ subjectPaths: [], revision: "8" });
});

test("an explanation says that the project was suspended meanwhile", async () => {
  const { dependencies, context, ask } = suspendMeanwhile();
  const request = create(ExplainAccessRequestSchema, { ...asked, subjectPath: "/orgs/acme/members/alice" });
  const answer = await ask(() => createExplainAccess(dependencies)(request, context));
  expect(answer).toMatchObject({ allowed: false, revision: "8" });
  expect(answer.deniedBecause).toContain("SUSPENDED");
});
