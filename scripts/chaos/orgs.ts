// The orgs of a run: each with an owner and its API key, and members, groups and projects for each of its callers.
import { type Api, createApi } from "../../test/support/api.ts";

/** What one of the callers of an org has for itself. */
interface Ground {
  readonly members: readonly string[];
  readonly group: string;
  readonly projects: readonly string[];
}

export interface LoadedOrg {
  readonly id: string;
  readonly name: string;
  /** `/orgs/acme` */
  readonly path: string;
  /** Of an owner. */
  readonly key: string;
  readonly grounds: readonly Ground[];
}

/** Creates an org with an owner. */
export async function createOwnedOrg(operator: Api, name: string, callers: number): Promise<LoadedOrg> {
  const { id, path } = await operator.orgs.createOrg({ org: { name } });
  const owner = await operator.members.createMember({ parentPath: path, member: { name: "owner" } });
  const roleBinding = { name: "owner", subjectPath: owner.path, rolePath: "/roles/owner" };
  await operator.roleBindings.createRoleBinding({ parentPath: path, roleBinding });
  const { secret = "" } = await operator.apiKeys.createApiKey({ parentPath: owner.path, apiKey: { name: "key" } });
  const grounds: Ground[] = [];
  for (let caller = 0; caller < callers; caller++) {
    const members = await operator.members.batchCreateMembers({
      parentPath: path,
      requests: [0, 1, 2].map((index) => ({ member: { name: `m${index}-of-${caller}` } })),
    });
    const group = await operator.groups.createGroup({ parentPath: path, group: { name: `group-of-${caller}` } });
    const projects = await operator.projects.batchCreateProjects({
      parentPath: path,
      requests: [0, 1].map((index) => ({ project: { name: `p${index}-of-${caller}` } })),
    });
    grounds.push({
      members: members.members.map((member) => member.path),
      group: group.path,
      projects: projects.projects.map((project) => project.path),
    });
  }
  return { id, name, path, key: secret, grounds };
}

/** Creates the orgs of a run. */
export async function createOrgs(
  url: string,
  operatorKey: string,
  count: number,
  callers: number,
): Promise<LoadedOrg[]> {
  const operator = createApi("Connect", url, operatorKey);
  const orgs: LoadedOrg[] = [];
  for (let index = 0; index < count; index++) orgs.push(await createOwnedOrg(operator, `quiet-${index}`, callers));
  return orgs;
}
