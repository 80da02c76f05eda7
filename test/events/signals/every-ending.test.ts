// Ends tokens in every way that there is. A receiver that knows nothing but the events comes to the same verdict as the service, of each
// token: no way is forgotten, and none ends more than it does.
import { type JWTPayload, decodeJwt, jwtVerify } from "jose";
import { afterAll, beforeAll, describe, expect, type onTestFinished, test } from "vitest";
import { EventStream_SubjectFormat } from "../../../gen/iam/v1alpha/event_stream_pb.ts";
import type { TokenEndReason } from "../../../src/access/tokens/find-token-end.ts";
import { createMethodTable } from "../../../src/rpc/method-table.ts";
import { services } from "../../../src/rpc/services.ts";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Consent, accessTokenOf, callsOf, newPkce, openConsent, redirectUri } from "../../api/consent.ts";
import { uniqueName } from "../../support/api.ts";
import { publishedKeys } from "../../support/published-keys.ts";
import { issuer } from "../../support/test-server.ts";
import { type TokenServers, startTokenServers } from "../../support/token-servers.ts";
import { type Receiver, startReceiver, webhookNetworks } from "../webhooks/receiver.ts";
import { type Cast, newCast, servicesOfTokens, untold, ways, withoutEnd } from "./ending-ways.ts";
import { accepted, audience } from "./place.ts";

let tokenServers: TokenServers;
let consent: Consent;
beforeAll(async () => {
  tokenServers = await startTokenServers({ webhookNetworks, purgeIntervalMs: 500 });
  consent = await openConsent(tokenServers);
});
afterAll(async () => {
  await consent.close();
  await tokenServers.close();
});

interface Subject {
  readonly format: string;
  readonly sub?: string;
  readonly jti?: string;
  readonly user?: Subject;
  readonly session?: { readonly id: string };
  readonly application?: { readonly id: string };
  readonly tenant?: { readonly id: string };
}

/** Whether a subject is about a token: about its member, its session or API key, its client, its org or itself. */
function isAbout(subject: Subject, token: JWTPayload): boolean {
  if (subject.format === "jwt_id") return subject.jti === token.jti;
  if (subject.format === "iss_sub") return subject.sub === token.sub;
  const { user, session, application, tenant } = subject;
  return (
    (user === undefined || user.sub === token.sub) &&
    (session === undefined || session.id === token["sid"]) &&
    (application === undefined || application.id === token["client_id"]) &&
    tenant?.id === token["org"]
  );
}

const sessionRevoked = "https://schemas.openid.net/secevent/caep/event-type/session-revoked";

/** What a token has beside what every one has. */
interface Claims {
  readonly sub_id: Subject;
  readonly events: Readonly<Record<string, object>>;
}

/** Returns what a receiver reads that has the keys from the other server. */
async function verifiedOf({ received }: Receiver): Promise<readonly Claims[]> {
  const keys = publishedKeys(`${consent.servers[1].url}/.well-known/jwks.json`);
  const options = { issuer, audience, typ: "secevent+jwt", algorithms: ["RS256"] };
  return Promise.all(received.map(async ({ body }) => (await jwtVerify<Claims>(body, keys, options)).payload));
}

const revokedOf = async (receiver: Receiver): Promise<Subject[]> =>
  (await verifiedOf(receiver)).filter(({ events }) => sessionRevoked in events).map(({ sub_id: subject }) => subject);

/** Returns why the service refuses a token; undefined if it does not. */
async function endOf(token: string, { path }: { readonly path: string }): Promise<string | undefined> {
  const response = await fetch(`${consent.servers[1].url}/iam/v1alpha${path}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const { error } = (await response.json()) as { error?: { details: { metadata?: { ended_by?: string } }[] } };
  return error?.details.find(({ metadata }) => metadata?.ended_by !== undefined)?.metadata?.ended_by;
}

const tokensOf = ({ ofKey, ofSession, ofClient, ofOther }: Cast) => ({
  key: ofKey,
  session: accessTokenOf(ofSession),
  client: accessTokenOf(ofClient),
  other: ofOther,
});

async function openStream(
  cast: Cast,
  subjectFormat: EventStream_SubjectFormat,
  onFinished?: typeof onTestFinished,
): Promise<Receiver> {
  const receiver = await startReceiver(accepted, onFinished);
  const eventStream = { name: uniqueName("stream"), audience, pushUrl: receiver.url, subjectFormat };
  await consent.api.eventStreams.createEventStream({ parentPath: cast.org.path, eventStream });
  return receiver;
}

/** Returns the names of those of some tokens that a receiver holds to have ended. */
async function verdictsOf(receiver: Receiver, tokens: Readonly<Record<string, string>>): Promise<string[]> {
  const revoked = await revokedOf(receiver);
  const isRevoked = (token: string) => revoked.some((subject) => isAbout(subject, decodeJwt(token)));
  return Object.entries(tokens).flatMap(([name, token]) => (isRevoked(token) ? [name] : []));
}

describe("a receiver is told of the tokens that end, and of no others, by", () => {
  test.concurrent.for(Object.entries(ways))(
    "%s",
    async ([, way], { onTestFinished: onFinished, expect: expectHere }) => {
      const { reason, ends, run } = way;
      const cast = await newCast(consent);
      const [complex, simple] = [
        await openStream(cast, EventStream_SubjectFormat.COMPLEX, onFinished),
        await openStream(cast, EventStream_SubjectFormat.ISS_SUB, onFinished),
      ];
      await run(cast);
      const tokens = tokensOf(cast);
      const isForAll = reason === "ORG_DELETED";
      const expected = Object.keys(tokens).filter((name) => isForAll || ends.some((each) => each === name));
      await expectHere.poll(() => verdictsOf(complex, tokens)).toEqual(expected);
      const found = await Promise.all(Object.values(tokens).map((token) => endOf(token, cast.org)));
      expectHere(Object.keys(tokens).filter((_each, index) => found[index] !== undefined)).toEqual(expected);
      expectHere(found).toContain(reason);
      // Without sessions, it names the member, a client or the org.
      await expectHere.poll(async () => (await revokedOf(simple)).length).toBeGreaterThan(0);
      for (const subject of await revokedOf(simple)) {
        const id = isForAll ? cast.org.id : cast.client.id;
        expectHere([
          { format: "iss_sub", iss: issuer, sub: cast.member.id },
          { format: "opaque", id },
        ]).toContainEqual(subject);
      }
    },
  );
});

test("the deletion of a client of another org ends the sessions of its clients, each with an event in its own org", async () => {
  const cast = await newCast(consent);
  const { api } = consent;
  // Members of all orgs can allow it.
  const client = await api.clients.createClient({
    parentPath: "orgs/system",
    client: { name: uniqueName("app"), redirectUris: [redirectUri] },
  });
  const calls = callsOf(() => ({ ...consent, member: cast.member, cookie: cast.cookie, client }));
  const pkce = newPkce();
  const ofClient = accessTokenOf(await calls.redeem(await calls.newCode(pkce), pkce));
  const receiver = await openStream(cast, EventStream_SubjectFormat.COMPLEX);
  await api.clients.deleteClient({ path: client.path });
  expect(await endOf(ofClient, cast.org)).toBe("CLIENT_DELETED");
  const tokens = { ...tokensOf(cast), ofClient };
  await expect.poll(() => verdictsOf(receiver, tokens)).toEqual(["ofClient"]);
});

test("a session that ends at its time needs no event, and an API key that does has one", async () => {
  const cast = await newCast(consent);
  const { api, database } = consent;
  const receiver = await openStream(cast, EventStream_SubjectFormat.COMPLEX);
  const { sid } = decodeJwt<{ sid: string }>(accessTokenOf(cast.ofClient));
  const over = { expire_time: new Date(Date.now() - 1_000) };
  await database.writes.updateTable("sessions").set(over).where("id", "=", sid).execute();
  const expireTime = timestampFromDate(new Date(Date.now() + 10_000));
  await api.apiKeys.createApiKey({ parentPath: cast.member.path, apiKey: { name: "short", expireTime } });
  await expect
    .poll(async () => (await verifiedOf(receiver)).map(({ events }) => Object.values(events)))
    .toEqual([
      [expect.objectContaining({ credential_type: "api_key", change_type: "create" })],
      [expect.objectContaining({ credential_type: "api_key", change_type: "revoke" })],
      [expect.objectContaining({ initiating_entity: "system" })],
    ]);
  const path = `${cast.member.path}/sessions/@${sid}`;
  await expect(api.sessions.getSession({ path })).rejects.toThrow("not_found");
});

test("each way in which a token ends is in the table, or the reason why no event tells it", () => {
  const reasons: Readonly<Record<TokenEndReason, true>> = {
    EXPIRED: true,
    ORG_DELETED: true,
    MEMBER_DELETED: true,
    MEMBER_SUSPENDED: true,
    ALL_REVOKED: true,
    API_KEY_DELETED: true,
    API_KEY_ROTATED: true,
    CLIENT_DELETED: true,
    SESSION_ENDED: true,
    IMPERSONATION_ENDED: true,
    TOKEN_REVOKED: true,
  };
  const told = Object.values(ways).map(({ reason }) => reason);
  expect([...new Set([...told, ...Object.keys(untold)])].toSorted()).toEqual(Object.keys(reasons).toSorted());
});

test("each method that writes, of a service from which tokens come, is in the table, or the reason why it ends none", () => {
  const table = createMethodTable(services);
  const writes = services
    .filter(({ name }) => servicesOfTokens.includes(name))
    .flatMap(({ methods }) => methods)
    .filter((method) => table.get(method)?.reads !== true)
    .map(({ name }) => name);
  const named = [...Object.keys(ways), ...Object.keys(withoutEnd)].filter((name) => /^[A-Za-z]+$/.test(name));
  expect(writes.toSorted()).toEqual(named.toSorted());
});
