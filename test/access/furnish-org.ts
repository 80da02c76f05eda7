// An org with one resource of each type, and one resource of each type in the service catalog.
import { createClient } from "@connectrpc/connect";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type AccessRequest, AccessRequestsService } from "../../gen/iam/v1alpha/access_request_pb.ts";
import { Contact_Kind } from "../../gen/iam/v1alpha/contact_pb.ts";
import type { Org } from "../../gen/iam/v1alpha/org_pb.ts";
import { type Session, SessionsService } from "../../gen/iam/v1alpha/session_pb.ts";
import { TokensService } from "../../gen/iam/v1alpha/token_pb.ts";
import type { Operation } from "../../gen/resources/v1alpha/operation_pb.ts";
import { ProviderService } from "../../gen/resources/v1alpha/provider_pb.ts";
import { ResourcesService } from "../../gen/resources/v1alpha/resource_pb.ts";
import { required } from "../../src/errors/required.ts";
import { type Api, uniqueName } from "../support/api.ts";
import { openWorkplace } from "../support/workplace.ts";
import { type WrittenResource, isRunByProvider, writtenResources } from "../support/written-resources.ts";

/** The paths of one resource of each type, by name and by id. The keys are the collections: `orgs/members`. */
export interface FurnishedOrg {
  readonly names: Readonly<Record<string, string>>;
  readonly ids: Readonly<Record<string, string>>;
}

/** Creates one resource of each type, in an org or in none. The paths include those of the org and its customer. */
export async function furnishOrg(api: Api, org: Org): Promise<FurnishedOrg> {
  const customer = await api.customers.getCustomer({ path: org.customerPath });
  const names: Record<string, string> = { customers: org.customerPath, orgs: org.path };
  const ids: Record<string, string> = { customers: `/customers/@${customer.id}`, orgs: `/orgs/@${org.id}` };
  for (const resource of writtenResources.toSorted((one, other) => depthOf(one) - depthOf(other))) {
    const { pattern } = resource.place;
    const [parent, own] = [pattern.slice(0, -1).join("/"), pattern.join("/")];
    if (names[own] !== undefined || isRunByProvider(resource)) continue;
    const place = await openWorkplace(resource, api, org, names[parent]);
    const name = uniqueName("acme");
    await place.makeWay(name);
    const item = await place.create(name);
    names[own] = item.path;
    ids[own] = `${ids[parent] ?? ""}/${resource.collection}/@${item.id}`;
  }
  const { resource, operation } = await createInfrastructure(api, names);
  const session = await startSession(api, names);
  const request = await askForAccess(api, names);
  const project = ids["orgs/projects"] ?? "";
  const webhook = await api.webhooks.createWebhook({
    parentPath: org.customerPath,
    webhook: { name: uniqueName("acme"), url: "https://hooks.invalid" },
  });
  const contact = await api.contacts.createContact({
    parentPath: org.customerPath,
    contact: { name: uniqueName("acme"), email: `${uniqueName("acme")}@example.com`, kinds: [Contact_Kind.BILLING] },
  });
  return {
    names: {
      ...names,
      "orgs/accessRequests": request.path,
      "customers/webhooks": webhook.path,
      "customers/contacts": contact.path,
      "orgs/members/sessions": session.path,
      "orgs/projects/resources": resource.path,
      "orgs/projects/operations": operation.path,
    },
    ids: {
      ...ids,
      "orgs/accessRequests": `${ids["orgs"] ?? ""}/accessRequests/@${request.id}`,
      "customers/contacts": `${ids["customers"] ?? ""}/contacts/@${contact.id}`,
      "customers/webhooks": `${ids["customers"] ?? ""}/webhooks/@${webhook.id}`,
      "orgs/members/sessions": `${ids["orgs/members"] ?? ""}/sessions/@${session.id}`,
      "orgs/projects/resources": `${project}/resources/@${resource.id}`,
      "orgs/projects/operations": `${project}/operations/@${operation.id}`,
    },
  };
}

type Names = Readonly<Record<string, string>>;

/** Creates a resource of the type in the service catalog, as its provider does, too. */
async function createInfrastructure(api: Api, names: Names) {
  const resources = createClient(ResourcesService, api.transport);
  const { resourcePath } = await resources.createResource({
    parentPath: required(names["orgs/projects"]),
    resource: { name: uniqueName("db"), typePath: required(names["services/resourceTypes"]) },
  });
  const operation = await completeOperation(api, names);
  return { operation, resource: await resources.getResource({ path: resourcePath }) };
}

/** Returns the headers of a call with an API key of its own of a member. */
async function headersOf(api: Api, parentPath: string) {
  const { secret = "" } = await api.apiKeys.createApiKey({ parentPath, apiKey: { name: uniqueName("session") } });
  return { authorization: `Bearer ${secret}` };
}

/** Asks for access as another member, so that the first one may decide. */
async function askForAccess(api: Api, names: Names): Promise<AccessRequest> {
  const parentPath = required(names["orgs"]);
  const expireTime = timestampFromDate(new Date(Date.now() + 3_600_000));
  const accessRequest = { rolePath: "/roles/viewer", resourcePath: parentPath, reason: "Ticket 4711", expireTime };
  const { path } = await api.members.createMember({ parentPath, member: { name: uniqueName("asks") } });
  const headers = await headersOf(api, path);
  return createClient(AccessRequestsService, api.transport).createAccessRequest(
    { parentPath, accessRequest },
    { headers },
  );
}

/** Starts a session of the member, with an API key of its own. */
async function startSession(api: Api, names: Names): Promise<Session> {
  const parentPath = required(names["orgs/members"]);
  const headers = await headersOf(api, parentPath);
  await createClient(TokensService, api.transport).issueToken({ startSession: true }, { headers });
  const { sessions } = await createClient(SessionsService, api.transport).listSessions({ parentPath });
  return required(sessions[0]);
}

/** Deletes that resource: what contains resources is not deleted. */
export async function removeInfrastructure(api: Api, names: Names): Promise<void> {
  const resources = createClient(ResourcesService, api.transport);
  await resources.deleteResource({ path: required(names["orgs/projects/resources"]) });
  await completeOperation(api, names);
}

/** Claims and completes the only operation of the service. */
async function completeOperation(api: Api, names: Names): Promise<Operation> {
  const provider = createClient(ProviderService, api.transport);
  const servicePath = required(names["services"]);
  const [claim] = (await provider.claimOperations({ servicePath })).claims;
  const { operation, claimToken } = required(claim);
  return provider.completeOperation({ servicePath, operationPath: required(operation).path, claimToken });
}

const depthOf = ({ place }: WrittenResource): number => place.pattern.length;
