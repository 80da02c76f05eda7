// Whoever a directory deactivates on one server has no access on another, from then on and whatever it holds; the last owner stays.
import { createClient } from "@connectrpc/connect";
import { beforeAll, describe, expect, test } from "vitest";
import { TokensService } from "../../gen/iam/v1alpha/token_pb.ts";
import { uniqueName } from "../support/api.ts";
import { rounds, seeds } from "../support/rounds.ts";
import { type SharedTokenServers, exchangeKey, sharedTokenServers, statusWith } from "../support/token-servers.ts";
import { createTransport } from "../support/transports.ts";
import { type Directory, type ScimScene, newGroup, newUser, openScimScene, patch } from "./scim-scene.ts";

let place: SharedTokenServers;
let scene: ScimScene;
let directory: Directory;
beforeAll(async () => {
  place = await sharedTokenServers();
  scene = await openScimScene(place);
  directory = await scene.directory();
});

/** Grants a role to a user, and returns a key of its own. */
async function equip(id: string, role: string, { api, org } = scene): Promise<string> {
  const path = `${org}/members/@${id}`;
  const roleBinding = { name: uniqueName("binding"), rolePath: `/roles/${role}`, subjectPath: path };
  await api.roleBindings.createRoleBinding({ parentPath: org, roleBinding });
  const { secret = "" } = await api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: "laptop" } });
  return secret;
}

const off = patch({ op: "replace", path: "active", value: false });

const ways: readonly (readonly [string, (id: string) => Promise<unknown>])[] = [
  ["PATCH", (id) => directory.scim("PATCH", `/Users/${id}`, off)],
  ["PUT", (id) => directory.scim("PUT", `/Users/${id}`, { userName: uniqueName("gone"), active: "False" })],
  ["DELETE", (id) => directory.scim("DELETE", `/Users/${id}`)],
];

describe.each(ways)("a deactivation by %s", (_name, deactivate) => {
  test("ends the key, the token and the session of somebody who holds more than the directory, on both servers", async () => {
    const id = await newUser(directory.scim);
    const key = await equip(id, "admin");
    const token = await exchangeKey(place.servers[1], key);
    const tokens = createClient(TokensService, createTransport("gRPC", place.servers[0].url, key));
    const { refreshToken } = await tokens.issueToken({ startSession: true });
    for (const server of place.servers) {
      expect([await statusWith(server, key, scene.org), await statusWith(server, token, scene.org)]).toEqual([
        200, 200,
      ]);
    }
    expect(await deactivate(id)).toMatchObject({ status: expect.toBeOneOf([200, 204]) });
    for (const server of [...place.servers].toReversed()) {
      expect([await statusWith(server, key, scene.org), await statusWith(server, token, scene.org)]).toEqual([
        401, 401,
      ]);
      const client = createClient(TokensService, createTransport("gRPC", server.url, undefined));
      await expect(client.refreshToken({ refreshToken })).rejects.toThrow();
    }
  });
});

/** How many rounds run beside each other, each in an org of its own, and how many an org has before the next one is opened. */
const atOnce = { lanes: rounds(1, 3), ofOrg: 100 };

test("who is deactivated or suspended on one server while it makes calls on the other is not accepted once after the answer", async () => {
  const left = seeds(4, 10_000).values();
  const runLane = async (): Promise<void> => {
    let [inOrg, source, done] = [scene, directory, 0];
    for (const round of left) {
      if (done++ % atOnce.ofOrg === 0) {
        inOrg = await openScimScene(place);
        source = await inOrg.directory();
      }
      const seen = await useWhileItEnds(inOrg, source, round % 2 === 0);
      expect([round, seen]).toEqual([round, new Set([401])]);
    }
  };
  await Promise.all(Array.from({ length: atOnce.lanes }, runLane));
});

/** Returns how calls of somebody were answered on one server that began after it was deactivated, or suspended, on the other. */
async function useWhileItEnds(inOrg: ScimScene, { scim }: Directory, isDeactivated: boolean): Promise<Set<number>> {
  const [here, there] = place.servers;
  const id = await newUser(scim);
  const key = await equip(id, "viewer", inOrg);
  const token = await exchangeKey(here, key);
  let isAnswered = false;
  const late = new Set<number>();
  const use = async (credential: string): Promise<void> => {
    for (;;) {
      const isLate = isAnswered;
      const status = await statusWith(there, credential, inOrg.org);
      if (isLate) late.add(status);
      if (isLate || status !== 200) return;
    }
  };
  const using = Promise.all([use(key), use(token)]);
  if (isDeactivated) expect((await scim("PATCH", `/Users/${id}`, off)).status).toBe(200);
  else await inOrg.api.members.suspendMember({ path: `${inOrg.org}/members/@${id}` });
  isAnswered = true;
  await using;
  await Promise.all([use(key), use(token)]);
  return late;
}

describe("the last owner", () => {
  let ownScene: ScimScene;
  let own: Directory;
  let owner: string;
  beforeAll(async () => {
    ownScene = await openScimScene(place);
    own = await ownScene.directory();
    owner = await newUser(own.scim);
    const group = await newGroup(own.scim, [owner]);
    const { api, org } = ownScene;
    const roleBinding = { name: "owners", rolePath: "/roles/owner", subjectPath: `${org}/groups/@${group}` };
    await api.roleBindings.createRoleBinding({ parentPath: org, roleBinding });
    tries.push(
      ["the deletion of its group", () => own.scim("DELETE", `/Groups/${group}`)],
      [
        "its removal from its group",
        () => own.scim("PATCH", `/Groups/${group}`, patch({ op: "remove", path: "members" })),
      ],
    );
  });
  const tries: [string, () => ReturnType<Directory["scim"]>][] = [
    ["PATCH", () => own.scim("PATCH", `/Users/${owner}`, off)],
    ["PUT", () => own.scim("PUT", `/Users/${owner}`, { userName: "last@acme.example", active: false })],
    ["DELETE", () => own.scim("DELETE", `/Users/${owner}`)],
  ];

  test("stays, with an error, and nothing is changed", async () => {
    const before = (await own.scim("GET", `/Users/${owner}`)).body;
    for (const [name, attempt] of tries) {
      const { status, body } = await attempt();
      expect([name, status, body]).toEqual([
        name,
        409,
        {
          schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"],
          status: "409",
          detail: expect.stringContaining("would be left without an owner"),
        },
      ]);
    }
    expect((await own.scim("GET", `/Users/${owner}`)).body).toEqual(before);
  });

  test("goes once there is another one", async () => {
    const id = await newUser(own.scim);
    const { api, org } = ownScene;
    const subjectPath = `${org}/members/@${id}`;
    await api.roleBindings.createRoleBinding({
      parentPath: org,
      roleBinding: { name: "other", rolePath: "/roles/owner", subjectPath },
    });
    expect((await own.scim("PATCH", `/Users/${owner}`, off)).body.active).toBe(false);
  });
});
