// An org with members that call with their own API keys.
import { type Client, createClient } from "@connectrpc/connect";
import { AccessService } from "../../gen/iam/v1alpha/access_pb.ts";
import type { Org } from "../../gen/iam/v1alpha/org_pb.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import type { SharedServer } from "../support/shared-server.ts";
import { type Protocol, createTransport } from "../support/transports.ts";

/** A member, with clients that call as this member. */
export interface Caller extends Api {
  readonly access: Client<typeof AccessService>;
  readonly key: string;
  readonly path: string;
}

export interface Company {
  /** The clients of the operator. */
  readonly api: Api;
  readonly org: Org;
  /** Creates a member of the org, or of another one. */
  join(name: string, org?: string): Promise<Caller>;
  /** Creates a member of the org with a predefined role on it. */
  joinAs(role: string, name?: string): Promise<Caller>;
  /** Binds a role, which is predefined unless its path is given. Returns the path of the binding. */
  bind(parentPath: string, role: string, subject: { readonly path: string }, condition?: string): Promise<string>;
}

/** @param customerPath the customer of the org. By default, the org gets its own. */
export async function openCompany(protocol: Protocol, server: SharedServer, customerPath = ""): Promise<Company> {
  const api = createApi(protocol, server.url, server.operatorKey);
  const org = await api.orgs.createOrg({ org: { name: uniqueName("acme"), customerPath } });

  const join: Company["join"] = async (name, parentPath = org.path) => {
    const { path } = await api.members.createMember({ parentPath, member: { name } });
    const { secret: key = "" } = await api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "ci" } });
    const access = createClient(AccessService, createTransport(protocol, server.url, key));
    return { ...createApi(protocol, server.url, key), access, key, path };
  };

  const bind: Company["bind"] = async (parentPath, role, { path: subjectPath }, condition = "") => {
    const rolePath = role.startsWith("/") ? role : `/roles/${role}`;
    const roleBinding = { name: uniqueName("binding"), rolePath, subjectPath, condition };
    return (await api.roleBindings.createRoleBinding({ parentPath, roleBinding })).path;
  };

  return {
    api,
    org,
    join,
    bind,
    async joinAs(role, name = role) {
      const member = await join(name);
      await bind(org.path, role, member);
      return member;
    },
  };
}
