// A server with event streams, and receivers that verify what they get with `jose`, by what the service publishes.
import { jwtVerify } from "jose";
import { expect, onTestFinished } from "vitest";
import type { Config } from "../../../src/config.ts";
import type { EventStream, EventStream_SubjectFormat } from "../../../gen/iam/v1alpha/event_stream_pb.ts";
import { type Caller, type Company, openCompany } from "../../access/callers.ts";
import { uniqueName } from "../../support/api.ts";
import { publishedKeys } from "../../support/published-keys.ts";
import { type SqlClient, openSqlClient } from "../../support/sql.ts";
import { endWait, stopRetries } from "../deliveries/waits.ts";
import { type TestServer, startTestServer } from "../../support/test-server.ts";
import { type Answer, type Received, webhookNetworks } from "../webhooks/receiver.ts";

export interface SignalPlace {
  readonly server: TestServer;
  readonly company: Company;
  readonly owner: Caller;
  readonly sql: SqlClient;
  /** Creates an event stream, which is removed when the test ends. */
  createStream(fields?: StreamFields, company?: Company): Promise<EventStream>;
  /** Lets the time pass after which a receiver that fails is tried again. */
  passWait(stream: EventStream): Promise<void>;
  /** Lets so many days pass since the receiver began to fail, and the wait. */
  passDays(stream: EventStream, days: number): Promise<void>;
  /** Verifies a token as the receiver that is its audience. */
  verify(token: string): Promise<Verified>;
  /** Polls over REST as RFC 8936 says, with the key of a caller. */
  poll(stream: EventStream, request?: object, key?: string): Promise<Polled>;
  close(): Promise<void>;
}

interface StreamFields {
  readonly pushUrl?: string;
  readonly pushAuthorization?: string;
  readonly eventTypes?: string[];
  readonly subjectFormat?: EventStream_SubjectFormat;
  readonly audience?: string;
}

/** What a receiver reads of a token. */
export interface Verified {
  readonly jti: string;
  readonly iat: number;
  readonly txn: string | undefined;
  readonly subject: Readonly<Record<string, unknown>>;
  /** The URI of the event, without what all of them begin with: `caep/event-type/session-revoked`. */
  readonly type: string;
  readonly event: Readonly<Record<string, unknown>>;
}

interface Polled {
  readonly status: number;
  readonly sets: Readonly<Record<string, string>>;
  readonly moreAvailable: boolean | undefined;
}

export const audience = "https://gateway.example.com";

export const accepted: Answer = (response) => void response.writeHead(202).end();

const prefix = "https://schemas.openid.net/secevent/";

export async function openSignalPlace(settings: Partial<Config> = {}): Promise<SignalPlace> {
  const server = await startTestServer({ webhookNetworks, ...settings });
  const company = await openCompany("gRPC", server);
  const owner = await company.joinAs("owner");
  const sql = await openSqlClient(server.databaseUrl);
  await stopRetries(sql, "event_streams");
  const configuration = await readConfiguration(server.url);
  // The issuer of a server of tests is where it says, and not where it listens.
  const keys = publishedKeys(new URL(new URL(configuration.jwks_uri).pathname, server.url));

  // The server looks again when it has written something, or after some seconds.
  const passWait = async ({ id }: EventStream): Promise<void> => {
    await endWait(sql, "event_streams", id);
    await owner.members.updateMember({ path: owner.path, member: { description: uniqueName("wakes") } });
  };

  return {
    server,
    company,
    owner,
    sql,

    async createStream(fields = {}, of = company) {
      const eventStream = { name: uniqueName("stream"), audience, ...fields };
      const created = await company.api.eventStreams.createEventStream({ parentPath: of.org.path, eventStream });
      onTestFinished(async () => {
        await company.api.eventStreams.deleteEventStream({ path: created.path, allowMissing: true }).catch(() => {});
      });
      return created;
    },

    passWait,

    async passDays(stream, days) {
      // A try that is under way would record since when it has failed as it was before.
      const shift = `update event_streams set failing_since = failing_since - make_interval(days => $2)
        where id = $1 and failing_since is not null and lease_end <= now() returning id`;
      await expect.poll(() => sql.query(shift, [stream.id, days])).toHaveLength(1);
      await passWait(stream);
    },

    async verify(token) {
      const options = { issuer: configuration.issuer, audience, algorithms: ["RS256"], typ: "secevent+jwt" };
      const { payload } = await jwtVerify(token, keys, options);
      const { jti = "", iat = 0, sub, exp, txn, sub_id: subject, events } = payload;
      const all = Object.entries(events as Readonly<Record<string, Record<string, unknown>>>);
      const [first, ...others] = all;
      if (first === undefined || others.length > 0 || sub !== undefined || exp !== undefined) {
        throw new Error(`a token has ${all.length} events, the sub ${sub} and the exp ${exp}`);
      }
      const [type, event] = first;
      return {
        jti,
        iat,
        txn: txn as string | undefined,
        subject: subject as Record<string, unknown>,
        type: type.slice(prefix.length),
        event,
      };
    },

    async poll({ path }, request = { returnImmediately: true }, key = owner.key) {
      const response = await fetch(`${server.url}/iam/v1alpha${path}:poll`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(request),
      });
      const body = (await response.json()) as Partial<Polled>;
      return { status: response.status, sets: body.sets ?? {}, moreAvailable: body.moreAvailable };
    },

    async close() {
      await sql.close();
      await server.close();
    },
  };
}

interface Configuration {
  readonly issuer: string;
  readonly jwks_uri: string;
}

export async function readConfiguration(url: string): Promise<Configuration> {
  const response = await fetch(`${url}/.well-known/ssf-configuration`);
  return (await response.json()) as Configuration;
}

/** Returns what a receiver got of pushes. */
export const verifyAll = (place: Pick<SignalPlace, "verify">, received: readonly Received[]): Promise<Verified[]> =>
  Promise.all(received.map(({ body }) => place.verify(body)));
