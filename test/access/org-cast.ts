// An org with members that have the given roles, each with its own API key.
import type { Org } from "../../gen/iam/v1alpha/org_pb.ts";
import { type AccessClient, createAccessClient } from "../support/access-place.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import type { SharedServer } from "../support/shared-server.ts";
import type { Protocol } from "../support/transports.ts";

export interface CastMember {
  readonly path: string;
  readonly api: Api;
  readonly access: AccessClient;
}

export interface OrgCast {
  readonly org: Org;
  /** The client of the operator, who has all permissions. */
  readonly api: Api;
  readonly access: AccessClient;
  /** Creates a member with these roles on the org. */
  member(name: string, ...roles: readonly string[]): Promise<CastMember>;
  /** Creates a group with these roles on the org. Returns its path. */
  group(name: string, ...roles: readonly string[]): Promise<string>;
  project(name: string): Promise<string>;
  role(name: string, ...permissions: readonly string[]): Promise<string>;
  join(group: string, member: string): Promise<string>;
  nest(group: string, subgroup: string): Promise<string>;
  /** Creates a role binding as the operator. Returns its path. */
  grant(scope: string, subjectPath: string, rolePath: string, fields?: object): Promise<string>;
  may(subjectPath: string, permission: string, resourcePath: string): Promise<boolean>;
}

export async function createOrgCast(protocol: Protocol, { url, operatorKey }: SharedServer): Promise<OrgCast> {
  const api = createApi(protocol, url, operatorKey);
  const access = createAccessClient(protocol, url, operatorKey);
  const org = await api.orgs.createOrg({ org: { name: uniqueName("cast") } });
  const parentPath = org.path;

  const grant: OrgCast["grant"] = async (scope, subjectPath, rolePath, fields = {}) => {
    const roleBinding = { name: uniqueName("b"), subjectPath, rolePath, ...fields };
    return (await api.roleBindings.createRoleBinding({ parentPath: scope, roleBinding })).path;
  };
  const grantAll = async (subject: string, roles: readonly string[]): Promise<void> => {
    for (const role of roles) await grant(org.path, subject, role);
  };

  return {
    org,
    api,
    access,
    async member(name, ...roles) {
      const { path } = await api.members.createMember({ parentPath, member: { name } });
      await grantAll(path, roles);
      const { secret } = await api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: uniqueName("key") } });
      return { path, api: createApi(protocol, url, secret), access: createAccessClient(protocol, url, secret) };
    },
    async group(name, ...roles) {
      const { path } = await api.groups.createGroup({ parentPath, group: { name } });
      await grantAll(path, roles);
      return path;
    },
    async project(name) {
      return (await api.projects.createProject({ parentPath, project: { name } })).path;
    },
    async role(name, ...permissions) {
      return (await api.roles.createRole({ parentPath, role: { name, permissions: [...permissions] } })).path;
    },
    async join(group, memberPath) {
      return (await api.groupMembers.createGroupMember({ parentPath: group, groupMember: { memberPath } })).path;
    },
    async nest(group, groupPath) {
      return (await api.groupMembers.createSubgroup({ parentPath: group, subgroup: { groupPath } })).path;
    },
    grant,
    async may(subjectPath, permission, resourcePath) {
      return (await access.checkAccess({ subjectPath, permission, resourcePath })).allowed;
    },
  };
}
