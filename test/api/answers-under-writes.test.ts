// While one server writes in two orgs, no answer of another one, which is read from both, is older than its request.
import { setTimeout } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { rounds } from "../support/rounds.ts";
import { type SharedServer, secondSharedServer, sharedServer } from "../support/shared-server.ts";

let one: SharedServer;
let other: SharedServer;
let writer: Api;
/** Two members of the org, and the operator. */
let readers: readonly Api[];
let org: { readonly path: string; readonly customerPath: string };

beforeAll(async () => {
  one = await sharedServer();
  other = await secondSharedServer();
  writer = createApi("gRPC", one.url, one.operatorKey);
  org = await writer.orgs.createOrg({ org: { name: uniqueName("acme") } });
  const keys = await Promise.all(["first", "second"].map(addReader));
  readers = [one.operatorKey, ...keys].map((key) => createApi("gRPC", other.url, key));
});

async function addReader(name: string): Promise<string> {
  const parentPath = org.path;
  const { path } = await writer.members.createMember({ parentPath, member: { name, type: 2 } });
  const roleBinding = { name, rolePath: "/roles/viewer", subjectPath: path };
  await writer.roleBindings.createRoleBinding({ parentPath, roleBinding });
  const { secret = "" } = await writer.apiKeys.createApiKey({ parentPath: path, apiKey: { name } });
  return secret;
}

/** The numbers of the last writes in the org and in the org `system` that an answer shows. */
interface Shown {
  readonly own: number;
  readonly system: number;
}

interface Watched {
  readonly writeOwn: (number: number) => Promise<unknown>;
  readonly writeSystem: (number: number) => Promise<unknown>;
  readonly read: (api: Api) => Promise<Shown>;
}

const numberIn = (text = ""): number => Number(/\d+$/.exec(text)?.[0] ?? 0);

const kinds = {
  async identity(): Promise<Watched> {
    const identityProvider = { name: "issuer-0", issuer: "https://login.example.com", clientId: "tenantry" };
    const provider = await writer.identityProviders.createIdentityProvider({
      parentPath: "/orgs/system",
      identityProvider,
    });
    const parentPath = `${org.path}/members/first`;
    const identity = { name: "identity", displayName: "0", identityProviderPath: provider.path, subject: "first" };
    const { path } = await writer.identities.createIdentity({ parentPath, identity });
    const byId = provider.path.replace(/[^/]+$/, `@${provider.id}`);
    return {
      writeOwn: (number) => writer.identities.updateIdentity({ path, identity: { displayName: String(number) } }),
      writeSystem: (number) =>
        writer.identityProviders.updateIdentityProvider({ path: byId, identityProvider: { name: `issuer-${number}` } }),
      async read(api) {
        const { identities } = await api.identities.listIdentities({ parentPath });
        const found = identities[0] ?? (await api.identities.getIdentity({ path }));
        return { own: numberIn(found.displayName), system: numberIn(found.identityProviderPath) };
      },
    };
  },

  async org(): Promise<Watched> {
    const { path, customerPath } = org;
    const { id } = await writer.customers.getCustomer({ path: customerPath });
    return {
      writeOwn: (number) => writer.orgs.updateOrg({ path, org: { displayName: String(number) } }),
      writeSystem: (number) =>
        writer.customers.updateCustomer({ path: `/customers/@${id}`, customer: { name: `customer-${number}` } }),
      async read(api) {
        const found = await api.orgs.getOrg({ path });
        return { own: numberIn(found.displayName), system: numberIn(found.customerPath) };
      },
    };
  },
} satisfies Record<string, () => Promise<Watched>>;

test.each(Object.entries(kinds))("an answer about an %s", async (_kind, watch) => {
  const { writeOwn, writeSystem, read } = await watch();
  const count = rounds(4, 2_000);
  const written = { own: 0, system: 0 };
  const state = { isOver: false };
  const write = async (which: "own" | "system", run: (number: number) => Promise<unknown>): Promise<void> => {
    for (let index = 0; index < count; index++) {
      const number = written[which] + 1;
      await run(number);
      written[which] = number;
      // Pauses of different lengths: answers are used again between writes.
      await setTimeout((index % 4) * 5);
    }
  };
  const watchFrom = async (api: Api): Promise<void> => {
    while (!state.isOver) {
      const before = { ...written };
      const shown = await read(api);
      expect(shown.own).toBeGreaterThanOrEqual(before.own);
      expect(shown.system).toBeGreaterThanOrEqual(before.system);
    }
  };
  const writeAll = async (): Promise<void> => {
    await write("own", writeOwn);
    await write("system", writeSystem);
    await Promise.all([write("own", writeOwn), write("system", writeSystem)]);
  };
  await Promise.all([...[...readers, ...readers].map(watchFrom), writeAll().finally(() => (state.isOver = true))]);
  for (const api of readers) expect(await read(api)).toEqual({ own: 2 * count, system: 2 * count });
});
