// Tests that every call ends, however long its client is willing to wait and however slowly it sends.
import { once } from "node:events";
import { connect } from "node:http2";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { protocols } from "../support/transports.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ requestTimeoutMs: 500 });
});
afterAll(() => server.close());

describe.each(protocols)("over %s", (protocol) => {
  test("a call that takes too long is DEADLINE_EXCEEDED, even if the client would wait longer", async () => {
    const api = createApi(protocol, server.url, server.operatorKey);
    const locker = new pg.Client({ connectionString: server.databaseUrl });
    await locker.connect();
    onTestFinished(() => locker.end());
    await locker.query("begin; lock table orgs in share mode");
    for (const options of [{}, { timeoutMs: 60_000 }]) {
      const failure = await failureOf(api.orgs.createOrg({ org: { name: uniqueName("late") } }, options));
      expect(failure.code).toBe("DeadlineExceeded");
    }
  });

  test("a client can ask for more time than a call may take", async () => {
    const api = createApi(protocol, server.url, server.operatorKey);
    expect((await api.orgs.listOrgs({}, { timeoutMs: 3_600_000 })).orgs).not.toEqual([]);
  });
});

test.each([
  ["/iam.v1alpha.OrgsService/ListOrgs", "application/grpc+proto"],
  ["/oauth2/token", "application/x-www-form-urlencoded"],
  ["/sign-in/token", "application/json"],
])(
  "a stream to %s whose body never ends is closed, which is no error of the service",
  async (path, type) => {
    const session = connect(server.url);
    onTestFinished(() => session.destroy());
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": type,
      "sec-fetch-site": "same-origin",
      te: "trailers",
    });
    stream.on("error", () => {});
    stream.write("\0");
    await once(stream, "close");
    expect(stream.closed).toBe(true);
    expect(server.logLines.filter((line) => line.includes('"level":50'))).toEqual([]);
  },
  5000,
);
