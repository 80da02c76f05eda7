// Every method of every service, called by an owner of the platform in an org that requires members of the platform to be approved, on its customer, and
// in another org of it: what is not needed to operate them is denied, also with `-` in place of the org.
import type { DescMethodUnary, DescService } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MeService } from "../../gen/iam/v1alpha/me_pb.ts";
import { TokensService } from "../../gen/iam/v1alpha/token_pb.ts";
import { ScimService } from "../../gen/scim/v2/scim_service_pb.ts";
import { isOperating } from "../../src/access/evaluation/support-permissions.ts";
import { required } from "../../src/errors/required.ts";
import type { MethodRules } from "../../src/rpc/method-rules.ts";
import { services } from "../../src/rpc/services.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { openReads } from "../support/service-catalog.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { type EveryCall, callMethodWhenFree, callsOf, eachOf, unaryMethods } from "./every-call.ts";
import { furnishOrg } from "./furnish-org.ts";

// These tell every caller what there is, or are about the caller.
const others: ReadonlySet<DescService> = new Set([TokensService, MeService, ScimService]);
const methods = unaryMethods(services).filter(({ name, method }) => !openReads.has(name) && !others.has(method.parent));

let server: TestServer;
let operator: Api;
/** The paths of one resource of each type, in the org that requires it. */
let paths: Readonly<Record<string, string>>;
/** The same in another org of its customer. */
let siblings: Readonly<Record<string, string>>;

beforeAll(async () => {
  server = await startTestServer();
  operator = createApi("gRPC", server.url, server.operatorKey);
  const org = await operator.orgs.createOrg({ org: { name: uniqueName("guarded") } });
  const sibling = await operator.orgs.createOrg({
    org: { name: uniqueName("sibling"), customerPath: org.customerPath },
  });
  const bind = (subjectPath: string, parentPath: string) =>
    operator.roleBindings.createRoleBinding({
      parentPath,
      roleBinding: { name: uniqueName("binding"), rolePath: "/roles/owner", subjectPath },
    });
  const { names } = await furnishOrg(operator, org);
  const member = required(names["orgs/members"]);
  const onCustomer = await bind(member, org.customerPath);
  const onPlatform = await bind("/orgs/system/members/operator", "");
  const onService = await bind("/orgs/system/members/operator", required(names["services"]));
  const more = {
    roles: "/roles/viewer",
    "customers/roleBindings": onCustomer.path,
    "services/roleBindings": onService.path,
    roleBindings: onPlatform.path,
  };
  paths = { ...names, ...more };
  siblings = { ...(await furnishOrg(operator, sibling)).names, ...more };
  const key = await operator.apiKeys.createApiKey({ parentPath: member, apiKey: { name: "owner" } });
  await createApi("gRPC", server.url, required(key.secret)).orgs.updateOrg({
    path: org.path,
    org: { supportAccessRequired: true },
    updateMask: { paths: ["support_access_required"] },
  });
});
afterAll(() => server.close());

/** Who is of the platform asks for access there, and is told that it holds and finds nothing. */
const isOpen = (name: string, answer: string): boolean =>
  name.endsWith("/CreateAccessRequest") || /"(accessRequests|permissions|results)":\[\]/.test(answer);

const isInCustomer = ({ path }: EveryCall): boolean => /^\/(orgs|customers)\//.test(path);

/** Whether the platform needs the call to operate: all its permissions are of that kind. */
function isOperated({ permission, createPermission }: MethodRules, { path }: EveryCall): boolean {
  const isWhole = !path.includes("/projects/");
  if (permission === undefined) return false;
  return [permission, createPermission].every((each) => each === undefined || isOperating(each, isWhole));
}

async function answerTo(method: DescMethodUnary, call: EveryCall): Promise<string> {
  const answer = callMethodWhenFree(operator.transport, method, call.request);
  try {
    return JSON.stringify(await answer, (_key, value: unknown) => (typeof value === "bigint" ? String(value) : value));
  } catch {
    return (await failureOf(answer)).reason ?? "";
  }
}

test.each(["in the org", "in another org of its customer"])("%s, every method is denied", async (where) => {
  const names = where === "in the org" ? paths : siblings;
  const [, , org = ""] = required(names["orgs"]).split("/");
  const found: string[] = [];
  await eachOf(methods, async ({ name, method, rules }) => {
    for (const call of callsOf(method, rules, names).filter(isInCustomer)) {
      if (call.about === "missing" || isOperated(rules, call)) continue;
      const answer = await answerTo(method, call);
      const isDenied = answer === "PERMISSION_DENIED";
      // Through `-`, there is nothing to see of it.
      const isHidden = call.about === "any" && !answer.includes(`/orgs/${org}`) && !answer.includes("customers/");
      if (!isDenied && !isHidden && !isOpen(name, answer)) found.push(`${name} ${call.path}: ${answer.slice(0, 300)}`);
    }
  });
  expect(found).toEqual([]);
});
