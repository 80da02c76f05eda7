// An org with a project, whose quotas have limits, and people who may decide about one or the other.
import { type Client, createClient } from "@connectrpc/connect";
import { QuotasService } from "../../../gen/iam/v1alpha/quota_pb.ts";
import { QuotaRequestsService } from "../../../gen/iam/v1alpha/quota_request_pb.ts";
import { QuantityKindsService } from "../../../gen/resources/v1alpha/quantity_kind_pb.ts";
import { type Api, createApi, uniqueName } from "../../support/api.ts";
import type { SharedServer } from "../../support/shared-server.ts";
import type { Protocol } from "../../support/transports.ts";

type Requests = Client<typeof QuotaRequestsService>;
type Quotas = Client<typeof QuotasService>;

/** Somebody with an API key. */
interface Person {
  readonly path: string;
  readonly api: Api;
  readonly requests: Requests;
  readonly quotas: Quotas;
}

export interface QuotaScene {
  readonly operator: Person;
  readonly customer: string;
  readonly org: string;
  readonly orgId: string;
  readonly project: string;
  readonly projectId: string;
  /** The limits of both are 10 cores and 0.1 ram; there is no limit for ports. */
  readonly quota: string;
  readonly projectQuota: string;
  /** Another org of the customer. */
  readonly sister: string;
  /** Creates a member of the org, or of another one, that holds a role on a customer, an org or a project. */
  person(rolePath: string, scope: string, from?: string): Promise<Person>;
  /** The same person at another server. */
  at(person: Person, server: SharedServer): Person;
  /** Creates a request as the operator. Returns its path. */
  ask(limits: Readonly<Record<string, number>>, quotaPath?: string): Promise<string>;
  limits(parentPath: string): Promise<Record<string, number>>;
  setLimits(parentPath: string, limits: Readonly<Record<string, number>>): Promise<void>;
}

export async function createKinds({ url, operatorKey }: SharedServer): Promise<void> {
  const kinds = createClient(QuantityKindsService, createApi("gRPC", url, operatorKey).transport);
  for (const name of ["cpu_cores", "ram", "ports"]) {
    await kinds.createQuantityKind({ quantityKind: { name, unit: "unit" } });
  }
}

/** @param server with the kinds of `createKinds`. */
export async function openQuotaScene(server: SharedServer, protocol: Protocol = "gRPC"): Promise<QuotaScene> {
  const keys = new Map<string, string>();
  const personOf = (path: string, key: string, url = server.url): Person => {
    keys.set(path, key);
    const api = createApi(protocol, url, key);
    const { transport } = api;
    const requests = createClient(QuotaRequestsService, transport);
    return { path, api, requests, quotas: createClient(QuotasService, transport) };
  };
  const operator = personOf("/orgs/system/members/operator", server.operatorKey);
  const { api, quotas, requests } = operator;
  const org = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const { customerPath } = org;
  const sister = await api.orgs.createOrg({ org: { name: uniqueName("sister"), customerPath } });
  const project = await api.projects.createProject({ parentPath: org.path, project: { name: "web" } });
  const setLimits = async (parentPath: string, limits: Readonly<Record<string, number>>): Promise<void> => {
    await quotas.updateQuota({ parentPath, quota: { limits }, updateMask: { paths: ["limits"] } });
  };
  for (const { path } of [org, project]) await setLimits(path, { cpu_cores: 10, ram: 0.1 });
  const quota = `${org.path}/quota`;

  return {
    operator,
    customer: customerPath,
    org: org.path,
    orgId: org.id,
    project: project.path,
    projectId: project.id,
    quota,
    projectQuota: `${project.path}/quota`,
    sister: sister.path,
    async person(rolePath, scope, from = org.path) {
      const name = uniqueName("person");
      const { path } = await api.members.createMember({ parentPath: from, member: { name } });
      const roleBinding = { name, subjectPath: path, rolePath };
      await api.roleBindings.createRoleBinding({ parentPath: scope, roleBinding });
      const { secret = "" } = await api.apiKeys.createApiKey({ parentPath: path, apiKey: { name } });
      return personOf(path, secret);
    },
    at: ({ path }, { url }) => personOf(path, keys.get(path) ?? "", url),
    async ask(limits, quotaPath = quota) {
      const quotaRequest = { name: uniqueName("more"), quotaPath, limits };
      return (await requests.createQuotaRequest({ parentPath: org.path, quotaRequest })).path;
    },
    limits: async (parentPath) => (await quotas.getQuota({ parentPath })).limits,
    setLimits,
  };
}
