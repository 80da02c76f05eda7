// From where a refresh can be repeated. Behind a proxy that says where a request comes from.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type TokenMember,
  type TokenServers,
  createTokenMember,
  sendForm,
  startTokenServers,
} from "../support/token-servers.ts";

let place: TokenServers;
let viewer: TokenMember;

beforeAll(async () => {
  place = await startTokenServers({ trustedProxies: ["127.0.0.1"] });
  const { path } = await place.api.orgs.createOrg({ org: { name: "acme" } });
  viewer = await createTokenMember(place.api, path, "viewer");
});
afterAll(() => place.close());

describe("a refresh token that is sent again soon", () => {
  const refreshFrom = (address: string, token: unknown) =>
    sendForm(
      place.servers[0],
      "token",
      { grant_type: "refresh_token", refresh_token: String(token) },
      { "x-forwarded-for": address },
    );

  test.each([
    ["192.0.2.7", "192.0.2.8", false],
    ["192.0.2.7", "::ffff:192.0.2.7", true],
    // A client may have any address of its network.
    ["2001:db8::1", "2001:db8::2", true],
    ["2001:db8::1", "2001:db8:0:1::1", false],
  ])("from %s, and then from %s: gets the same successor: %s", async (first, second, isSame) => {
    const form = { grant_type: "client_credentials", client_secret: viewer.key, scope: "offline_access" };
    const { body } = await sendForm(place.servers[0], "token", form);
    const next = await refreshFrom(first, body["refresh_token"]);
    const again = await refreshFrom(second, body["refresh_token"]);
    expect(again.body["refresh_token"] === next.body["refresh_token"]).toBe(isSame);
    expect((await refreshFrom(first, next.body["refresh_token"])).status).toBe(isSame ? 200 : 400);
  });
});
