// Responses that are reused are encoded once, however many calls get them.
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { createApi, uniqueName } from "../support/api.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";

let server: SharedServer;
/** The path of the org, below which the caller reads. */
let org: string;
let key: string | undefined;
/** Changes the org, so that no response from before is reused. */
let change: () => Promise<unknown>;

beforeAll(async () => {
  server = await sharedServer();
  const api = createApi("Connect", server.url, server.operatorKey);
  ({ path: org } = await api.orgs.createOrg({ org: { name: uniqueName("encoded") } }));
  const parentPath = org;
  const { path } = await api.members.createMember({ parentPath, member: { name: "reader", type: 2 } });
  const roleBinding = { name: "reader", rolePath: "/roles/viewer", subjectPath: path };
  await api.roleBindings.createRoleBinding({ parentPath, roleBinding });
  ({ secret: key } = await api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "reader" } }));
  change = () => api.members.updateMember({ path, member: { description: uniqueName("text") } });
});

afterEach(() => {
  vi.restoreAllMocks();
});

test.each(["members/reader", "members"])(
  "a response to GET %s is encoded again only when the org has changed",
  async (below) => {
    const stringify = vi.spyOn(JSON, "stringify");
    /** Returns the body, and how often it was encoded. */
    const read = async () => {
      stringify.mockClear();
      const response = await fetch(`${server.url}/iam/v1alpha${org}/${below}`, {
        headers: { authorization: `Bearer ${key}` },
      });
      const body = await response.text();
      expect(response.status, body).toBe(200);
      return { body, encoded: stringify.mock.results.filter(({ value }) => value === body).length };
    };
    for (const times of [1, 2]) {
      await change();
      const first = await read();
      expect(first.encoded, `change ${times}`).toBe(1);
      // A response is kept when it is asked for again.
      await read();
      for (let count = 0; count < 3; count++) expect(await read()).toEqual({ ...first, encoded: 0 });
    }
  },
);
