// An org with two projects, and people who ask for access to it or decide about that.
import { type Client, createClient } from "@connectrpc/connect";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type AccessRequest, AccessRequestsService } from "../../../gen/iam/v1alpha/access_request_pb.ts";
import { AccessService } from "../../../gen/iam/v1alpha/access_pb.ts";
import { type Api, createApi, uniqueName } from "../../support/api.ts";
import type { SharedServer } from "../../support/shared-server.ts";
import type { Protocol } from "../../support/transports.ts";

/** Somebody with an API key. */
export interface Person {
  readonly path: string;
  readonly key: string;
  readonly api: Api;
  readonly requests: Client<typeof AccessRequestsService>;
  readonly access: Client<typeof AccessService>;
}

export const inMs = (ms: number) => timestampFromDate(new Date(Date.now() + ms));
export const inHours = (hours: number) => inMs(hours * 3_600_000);

export async function openAccessScene(server: SharedServer, protocol: Protocol = "gRPC") {
  const personOf = (path: string, key: string, url = server.url): Person => {
    const api = createApi(protocol, url, key);
    const { transport } = api;
    const requests = createClient(AccessRequestsService, transport);
    return { path, key, api, requests, access: createClient(AccessService, transport) };
  };
  const operator = personOf("/orgs/system/members/operator", server.operatorKey);
  const { api } = operator;
  const org = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const [web, shop] = [
    await api.projects.createProject({ parentPath: org.path, project: { name: "web" } }),
    await api.projects.createProject({ parentPath: org.path, project: { name: "shop" } }),
  ];
  /** Creates a member of the org, or of another one, that may hold a role. */
  const person = async (rolePath?: string, scope = org.path, from = org.path): Promise<Person> => {
    const name = uniqueName("person");
    const { path } = await api.members.createMember({ parentPath: from, member: { name } });
    if (rolePath !== undefined) {
      const roleBinding = { name, subjectPath: path, rolePath };
      await api.roleBindings.createRoleBinding({ parentPath: scope, roleBinding });
    }
    const { secret = "" } = await api.apiKeys.createApiKey({ parentPath: path, apiKey: { name } });
    return personOf(path, secret);
  };
  return {
    operator,
    org: org.path,
    orgId: org.id,
    customer: org.customerPath,
    web: web.path,
    shop: shop.path,
    person,
    /** The same person at another server. */
    at: ({ path, key }: Person, { url }: SharedServer): Person => personOf(path, key, url),
    withKey: personOf,
    ask: (
      who: Person,
      resourcePath = web.path,
      rolePath = "/roles/viewer",
      expireTime = inHours(1),
      breakGlass = false,
    ): Promise<AccessRequest> =>
      who.requests.createAccessRequest({
        parentPath: org.path,
        accessRequest: { rolePath, resourcePath, reason: "Ticket 4711", expireTime, breakGlass },
      }),
    /** Whether somebody holds a permission of the role viewer on a resource. */
    sees: async (who: Person, resourcePath = web.path): Promise<boolean> => {
      const { permissions } = await who.access.testPermissions({
        resourcePath,
        permissions: ["iam.projects.get"],
      });
      return permissions.length > 0;
    },
  };
}
