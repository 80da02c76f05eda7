// An org with members, for tests of access checks.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { AccessService } from "../../gen/iam/v1alpha/access_pb.ts";
import type { Org } from "../../gen/iam/v1alpha/org_pb.ts";
import type { RoleBindingSchema } from "../../gen/iam/v1alpha/role_binding_pb.ts";
import { type Api, createApi, uniqueName } from "./api.ts";
import { type Protocol, createTransport } from "./transports.ts";

export type AccessClient = Client<typeof AccessService>;

/** A permission of another service. Of the predefined roles, only `owner`, `admin` and `editor` hold it. */
export const startInstance = "compute.instances.start";

export interface AccessPlace {
  /** The operator's client. */
  readonly api: Api;
  readonly access: AccessClient;
  readonly org: Org;
  /** These are paths. */
  readonly alice: string;
  readonly bob: string;
  readonly sre: string;
  readonly web: string;
  /** Creates a role binding and returns its path. */
  grant(
    parent: string,
    subject: string,
    role: string,
    fields?: MessageInitShape<typeof RoleBindingSchema>,
  ): Promise<string>;
  /** Returns whether a subject can start instances. */
  may(subject: string, resource: string): Promise<boolean>;
}

export function createAccessClient(protocol: Protocol, url: string, apiKey: string | undefined): AccessClient {
  return createClient(AccessService, createTransport(protocol, url, apiKey));
}

/** Creates an org with the members alice and bob, the group sre with alice in it, and the project web. */
export async function createAccessPlace(protocol: Protocol, url: string, operatorKey: string): Promise<AccessPlace> {
  const api = createApi(protocol, url, operatorKey);
  const access = createAccessClient(protocol, url, operatorKey);
  const org = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const parentPath = org.path;
  const alice = await api.members.createMember({ parentPath, member: { name: "alice" } });
  const bob = await api.members.createMember({ parentPath, member: { name: "bob" } });
  const sre = await api.groups.createGroup({ parentPath, group: { name: "sre" } });
  await api.groupMembers.createGroupMember({ parentPath: sre.path, groupMember: { memberPath: alice.path } });
  const web = await api.projects.createProject({ parentPath, project: { name: "web" } });
  return {
    api,
    access,
    org,
    alice: alice.path,
    bob: bob.path,
    sre: sre.path,
    web: web.path,
    async grant(parent, subjectPath, rolePath, fields = {}) {
      const roleBinding = { name: uniqueName("binding"), subjectPath, rolePath, ...fields };
      const { path } = await api.roleBindings.createRoleBinding({ parentPath: parent, roleBinding });
      return path;
    },
    async may(subjectPath, resourcePath) {
      const { allowed } = await access.checkAccess({ subjectPath, permission: startInstance, resourcePath });
      return allowed;
    },
  };
}
