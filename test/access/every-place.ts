import type { Org } from "../../gen/iam/v1alpha/org_pb.ts";
import { required } from "../../src/errors/required.ts";
import { type Api, uniqueName } from "../support/api.ts";
import type { Paths } from "./every-call.ts";
import { furnishOrg } from "./furnish-org.ts";

/**
 * Creates one resource of each type in an org, for calls of any method. The member is bound as owner to the org and the
 * customer.
 */
export async function createEveryPlace(api: Api, org: Org): Promise<Paths> {
  const bind = async (parent: string, subjectPath: string, name: string): Promise<string> => {
    const roleBinding = { name, rolePath: "/roles/owner", subjectPath };
    return (await api.roleBindings.createRoleBinding({ parentPath: parent, roleBinding })).path;
  };
  const { names } = await furnishOrg(api, org);
  const alice = required(names["orgs/members"]);
  await bind(org.path, alice, uniqueName("of-org"));
  const operator = "/orgs/system/members/operator";
  return {
    ...names,
    // Resources outside of orgs.
    roles: "/roles/viewer",
    "customers/roleBindings": await bind(org.customerPath, alice, uniqueName("of-customer")),
    "services/roleBindings": await bind(required(names["services"]), operator, uniqueName("of-service")),
    roleBindings: await bind("", operator, uniqueName("of-platform")),
  };
}
