// Tests streams whose clients do not read: they are cut, and their places are free again.
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { toBinary, create } from "@bufbuild/protobuf";
import { beforeAll, afterAll, expect, test } from "vitest";
import { Change_View, WatchChangesRequestSchema } from "../../gen/iam/v1alpha/change_pb.ts";
import { type Api, createApi } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { isSynced, watchLog } from "../support/watch-log.ts";

const parentPath = "orgs/acme";
let writes: TestServer;
let server: TestServer;
let api: Api;
let created: string;
beforeAll(async () => {
  writes = await startTestServer();
  const { databaseUrl, operatorKey, secretKeysFile } = writes;
  server = await startTestServer({ databaseUrl, secretKeysFile, requestTimeoutMs: 15_000, streamsPerCaller: 1 });
  api = createApi("gRPC", server.url, operatorKey);
  const { orgs, members } = createApi("gRPC", writes.url, operatorKey);
  ({ etag: created } = await orgs.createOrg({ org: { name: "acme" } }));
  // With their proofs, some megabytes: the system takes as much from a server for a client that does not read.
  const labels = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`l${index}`, "x".repeat(63)]));
  for (let batch = 0; batch < 8; batch++) {
    const requests = Array.from({ length: 100 }, (_, index) => ({ member: { name: `m${batch}n${index}`, labels } }));
    await members.batchCreateMembers({ parentPath, requests });
  }
});
afterAll(async () => {
  await server.close();
  await writes.close();
});

const hostOf = (url: string): { readonly host: string; readonly port: number } => {
  const { hostname: host, port } = new URL(url);
  return { host, port: Number(port) };
};

/** Returns a message as a stream over Connect and gRPC has it: a flag, the length, and the bytes. */
function enveloped(): Buffer {
  const request = create(WatchChangesRequestSchema, { parentPath, afterRevision: created, view: Change_View.PROVED });
  const bytes = toBinary(WatchChangesRequestSchema, request);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

const method = "/iam.v1alpha.ChangesService/WatchChanges";

/** Sends a request over HTTP/1.1, and reads nothing but the first bytes of its answer until the stream has been cut. */
async function sendAndStop(head: readonly string[], body: Buffer): Promise<void> {
  const socket = connect(hostOf(server.url));
  const lines = [
    ...head,
    "Host: localhost",
    `Authorization: Bearer ${writes.operatorKey}`,
    `Content-Length: ${body.length}`,
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  socket.write(body);
  await once(socket, "readable");
  expect(String(socket.read(12))).toBe("HTTP/1.1 200");
  socket.on("error", () => undefined);
  await expectFreed();
  socket.destroy();
}

/** Checks that the one stream that the caller may have is open, and closed by the server after a while. */
async function expectFreed(): Promise<void> {
  const opened = async (): Promise<string> => {
    const watch = watchLog(api, { parentPath });
    const result = await watch.until(isSynced).then(
      () => "open",
      async () => (await failureOf(watch.ended)).reason ?? "",
    );
    watch.close();
    return result;
  };
  expect(await opened()).toBe("RATE_LIMITED");
  await expect.poll(opened, { interval: 500 }).toBe("open");
}

test("over REST, a stream whose client stops reading is ended, and its place is free", async () => {
  const target = `/iam/v1alpha/${parentPath}/changes:watch?after_revision=${created}&view=PROVED`;
  await sendAndStop([`GET ${target} HTTP/1.1`, "Accept: application/x-ndjson"], Buffer.alloc(0));
});

test("over Connect and HTTP/1.1, a stream whose client stops reading is ended, and its place is free", async () => {
  const head = [`POST ${method} HTTP/1.1`, "Content-Type: application/connect+proto", "Connect-Protocol-Version: 1"];
  await sendAndStop(head, enveloped());
});

test("over gRPC, a stream whose client stops reading is reset, and the others on its connection go on", async () => {
  const session = connectHttp2(server.url);
  const headers = { authorization: `Bearer ${writes.operatorKey}`, "content-type": "application/grpc", te: "trailers" };
  const stream = session.request({ ":method": "POST", ":path": method, ...headers });
  const closed = new Promise((resolve) => stream.once("close", resolve));
  stream.on("error", () => undefined);
  stream.end(enveloped());
  await closed;
  expect(stream.rstCode).toBe(8);
  const other = session.request({ ":path": `/iam/v1alpha/${parentPath}`, ...headers });
  other.resume();
  const [answer] = (await once(other, "response")) as [{ readonly ":status": number }];
  expect(answer[":status"]).toBe(200);
  session.close();
});
