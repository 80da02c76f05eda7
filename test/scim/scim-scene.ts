// An org with a directory: a SCIM source, and its key. Calls are made as a directory makes them.
import { createClient } from "@connectrpc/connect";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect } from "vitest";
import {
  type ScimSource,
  type ScimSource_Subject as Subject,
  ScimSourcesService,
} from "../../gen/iam/v1alpha/scim_source_pb.ts";
import { type Api, uniqueName } from "../support/api.ts";
import type { SharedTokenServers } from "../support/token-servers.ts";

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- what is in it is what the tests look at
  readonly body: any;
}

/** Calls SCIM of an org with a token. */
export type Scim = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;

export const scimOf =
  ({ url }: { readonly url: string }, org: string, token: string): Scim =>
  async (method, path, body, headers = {}) => {
    const response = await fetch(`${url}/scim/v2${org}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { "content-type": "application/scim+json" }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
  };

export interface Directory {
  readonly source: ScimSource;
  readonly memberPath: string;
  readonly key: string;
  readonly scim: Scim;
}

export interface ScimScene {
  readonly api: Api;
  readonly org: string;
  readonly servers: SharedTokenServers["servers"];
  /** Makes another source, as an owner does. */
  directory(fields?: { identityProviderPath?: string; subject?: Subject }): Promise<Directory>;
}

export async function openScimScene({ api, servers }: SharedTokenServers): Promise<ScimScene> {
  const { path: org } = await api.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const sources = createClient(ScimSourcesService, api.transport);
  return {
    api,
    org,
    servers,
    async directory(fields = {}) {
      const name = uniqueName("directory");
      const { path: memberPath } = await api.members.createMember({ parentPath: org, member: { name, type: 2 } });
      const roleBinding = { name, rolePath: "/roles/provisioner", subjectPath: memberPath };
      await api.roleBindings.createRoleBinding({ parentPath: org, roleBinding });
      const source = await sources.createScimSource({ parentPath: org, scimSource: { name, memberPath, ...fields } });
      const expireTime = timestampFromDate(new Date(Date.now() + 86_400_000));
      const { secret: key = "" } = await api.apiKeys.createApiKey({
        parentPath: memberPath,
        apiKey: { name: "scim", expireTime },
      });
      return { source, memberPath, key, scim: scimOf(servers[0], org, key) };
    },
  };
}

export const user = (userName: string, more: object = {}): object => ({
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
  userName,
  ...more,
});

export const patch = (...operations: object[]): object => ({
  schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
  Operations: operations,
});

/** Creates a user, and returns its id. */
export async function newUser(scim: Scim, more: object = {}): Promise<string> {
  const { status, body } = await scim("POST", "/Users", user(`${uniqueName("judy")}@acme.example`, more));
  expect([status, body]).toMatchObject([201, {}]);
  return body.id;
}

/** Creates a group, and returns its id. */
export async function newGroup(scim: Scim, memberIds: readonly string[] = []): Promise<string> {
  const { status, body } = await scim("POST", "/Groups", {
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:Group"],
    displayName: uniqueName("Sales"),
    members: memberIds.map((value) => ({ value })),
  });
  expect([status, body]).toMatchObject([201, {}]);
  return body.id;
}

/** Returns the ids of those who are in a group. */
export async function membersOf(scim: Scim, id: string): Promise<string[]> {
  const { body } = await scim("GET", `/Groups/${id}`);
  return (body.members as { value: string }[]).map(({ value }) => value).toSorted();
}
