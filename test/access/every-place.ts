import { required } from "../../src/errors/required.ts";
import { type Api, uniqueName } from "../support/api.ts";
import { openWorkplace } from "../support/workplace.ts";
import { type WrittenResource, writtenResources } from "../support/written-resources.ts";
import type { Paths } from "./every-call.ts";

const depthOf = ({ place }: WrittenResource): number => place.pattern.length;

/** Makes one of each resource in an org, for calls of any method. Its member is bound as owner to the org and the customer. */
export async function createEveryPlace(
  api: Api,
  org: { readonly path: string; readonly customerPath: string },
): Promise<Paths> {
  const bind = async (parent: string, subjectPath: string, name: string): Promise<string> => {
    const roleBinding = { name, rolePath: "/roles/owner", subjectPath };
    return (await api.roleBindings.createRoleBinding({ parentPath: parent, roleBinding })).path;
  };
  const made: Record<string, string> = { customers: org.customerPath, orgs: org.path };
  for (const resource of writtenResources.toSorted((one, other) => depthOf(one) - depthOf(other))) {
    const { pattern } = resource.place;
    if (pattern.length === 1) continue;
    const place = await openWorkplace(resource, api, org, made[pattern.slice(0, -1).join("/")]);
    const name = uniqueName("acme");
    await place.makeWay(name);
    made[pattern.join("/")] = (await place.create(name)).path;
  }
  const alice = required(made["orgs/members"]);
  await bind(org.path, alice, uniqueName("of-org"));
  return {
    ...made,
    // What is in no org.
    roles: "/roles/viewer",
    "customers/roleBindings": await bind(org.customerPath, alice, uniqueName("of-customer")),
    roleBindings: await bind("", "/orgs/system/members/operator", uniqueName("of-platform")),
  };
}
