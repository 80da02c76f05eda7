import http from "node:http";
import net from "node:net";
import { gzipSync } from "node:zlib";
import { createRestHandler } from "../../../src/rest/rest-handler.ts";
import { RecordsService } from "../gen/rest/test/v1/records_pb.ts";

interface HostileAnswer {
  /** 0 if the connection was closed without a response. */
  readonly status: number;
  readonly text: string;
}

interface HostileRequest {
  readonly name: string;
  /** The expected status. */
  readonly status: number;
  readonly send: (port: number) => Promise<HostileAnswer>;
}

/** The time that the client of a slow body asks for. Others have as long as a busy machine takes. */
const slowBodyMs = 500;

/** A server with high limits, so that hostile requests reach the transcoder. */
export function createHostileServer(): http.Server {
  const handler = createRestHandler({
    routes: (router) =>
      router.service(RecordsService, {
        getRecord: ({ name }) => ({ name }),
        importRecord: ({ record }) => record ?? {},
        probe: ({ repeatedValue, mapValue, stringValue }) => ({
          name: `${repeatedValue.length} values, ${Object.keys(mapValue).length} entries, ${stringValue.length} characters`,
        }),
      }),
    maxTargetLength: 8_000_000,
    maxBodyBytes: 16_000_000,
    timeoutMs: 60_000,
  });
  return http.createServer({ maxHeaderSize: 16_000_000 }, handler);
}

const many = (count: number, item: (index: number) => string, separator = "&"): string =>
  Array.from({ length: count }, (_, index) => item(index)).join(separator);

export const hostileRequests: readonly HostileRequest[] = [
  get("a path of 64,000 slashes", 404, "/".repeat(64_000)),
  get("64,000 slashes for **", 200, `/probe${"/".repeat(64_000)}`),
  get("64,000 colons in the last segment", 404, `/v1/orgs/a/records/b/${":import".repeat(10_000)}`),
  get("a long path whose last escape is broken", 400, `/probe/${"%C3%A9".repeat(100_000)}%zz`),
  get("a long path that ends in half a character", 400, `/probe/${"%C3%A9".repeat(100_000)}%C3`),
  get("10,000 unknown parameters", 400, `/probe/x?${many(10_000, (index) => `x${index}=1`)}`),
  get("10,000 values of one scalar", 400, `/probe/x?${many(10_000, (index) => `int32_value=${index}`)}`),
  get("10,000 values of a repeated field", 200, `/probe/x?${many(10_000, (index) => `repeated_value=${index}`)}`),
  get("10,000 map entries", 200, `/probe/x?${many(10_000, (index) => `map_value[${index}]=1`)}`),
  get("a map key of 1,000,000 characters, twice", 400, `/probe/x?${many(2, () => `map_value[${"k".repeat(1e6)}]=1`)}`),
  get("brackets in brackets", 200, `/probe/x?map_value${"[".repeat(10_000)}${"]".repeat(10_000)}=1`),
  get("a parameter of 10,000 names", 400, `/probe/x?${"nested.".repeat(10_000)}string_value=1`),
  get("10,000 parameters of 90 names", 400, `/probe/x?${many(10_000, () => `${"nested.".repeat(90)}int32_value=1`)}`),
  get("a number of 1,000,000 digits", 400, `/probe/x?int64_value=${"9".repeat(1e6)}`),
  get("Struct nested 10,000 deep", 400, `/probe/x?struct_value=${"[".repeat(10_000)}`),
  post("JSON nested 10,000 deep", 400, "[".repeat(10_000)),
  post("JSON nested 100,000 deep", 400, `{"nested":`.repeat(100_000)),
  post("100,000 unknown keys", 400, `{${many(100_000, (index) => `"k${index}":1`, ",")}}`),
  post("100,000 map entries", 200, `{"map_value":{${many(100_000, (index) => `"k${index}":"v"`, ",")}}}`),
  post("100,000 values of the wrong type", 400, `{"repeated_value":[${many(100_000, String, ",")}]}`),
  post("a key twice after 100,000 others", 400, `{${many(100_000, (index) => `"k${index % 99_999}":1`, ",")}}`),
  post("a string of 10,000,000 escapes", 400, `{"string_value":"${"\\".repeat(10_000_000)}`),
  post("a number of 1,000,000 digits in JSON", 400, `{"int32_value":${"9".repeat(1e6)}}`),
  post("4,000,000 digits for 64 bits", 400, `{"int64_value":"${"9".repeat(4e6)}"}`),
  post("a map key of 4,000,000 digits", 400, `{"map_value5":{"${"9".repeat(4e6)}":"a"}}`),
  post("wrapped integers of 4,000,000 digits", 400, `{"repeated_message":["${"9".repeat(4e6)}"]}`),
  post("10,000,000 bytes of white space", 400, " ".repeat(10_000_000)),
  post("1 GB of zeros in gzip", 413, gzipBomb(), { "content-encoding": "gzip" }),
  post("text that claims to be gzip", 400, "{}", { "content-encoding": "gzip" }),
  { name: "a body that arrives byte by byte", status: 408, send: sendSlowly },
  { name: "a socket that is half closed after its request", status: 200, send: (port) => sendHalf(port, "{}") },
  { name: "a socket that is half closed within its body", status: 400, send: (port) => sendHalf(port, "{") },
  { name: "a request beside 1,000 idle connections", status: 200, send: sendBesideIdle },
];

function get(name: string, status: number, path: string): HostileRequest {
  return { name, status, send: (port) => request(port, { method: "GET", path }) };
}

function post(
  name: string,
  status: number,
  body: string | Buffer,
  headers: http.OutgoingHttpHeaders = {},
): HostileRequest {
  return { name, status, send: (port) => request(port, { method: "POST", path: "/probe", headers }, body) };
}

/** Reports whether the server responds to a normal request. */
export async function isAlive(port: number): Promise<boolean> {
  const { status, text } = await request(port, { method: "GET", path: "/v1/orgs/a/records/b" });
  return status === 200 && text === '{"name":"orgs/a/records/b"}';
}

function request(port: number, options: http.RequestOptions, body?: string | Buffer): Promise<HostileAnswer> {
  return new Promise((resolve, reject) => {
    const sent = http.request({ ...options, port, host: "127.0.0.1", agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** The members of a gzip file are decompressed one after the other. */
function gzipBomb(): Buffer {
  const member = gzipSync(Buffer.alloc(1024 * 1024));
  return Buffer.concat(Array.from({ length: 1024 }, () => member));
}

function head(length: number, more = ""): string {
  return `POST /probe HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Length: ${length}\r\n${more}\r\n`;
}

function sendSlowly(port: number): Promise<HostileAnswer> {
  const socket = net.connect(port, "127.0.0.1");
  socket.write(head(1000, `X-Server-Timeout: ${slowBodyMs / 1000}\r\n`));
  const timer = setInterval(() => socket.write(" "), slowBodyMs / 10);
  return readAnswer(socket).finally(() => clearInterval(timer));
}

/** Sends a content length of 2, whatever the body. */
function sendHalf(port: number, body: string): Promise<HostileAnswer> {
  const socket = net.connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.end(head(2) + body);
  return readAnswer(socket);
}

async function sendBesideIdle(port: number): Promise<HostileAnswer> {
  const idle = await Promise.all(
    Array.from({ length: 1000 }, () => {
      const socket = net.connect(port, "127.0.0.1");
      socket.on("error", () => {});
      return new Promise<net.Socket>((resolve) => socket.once("connect", () => resolve(socket)));
    }),
  );
  const answer = await request(port, { method: "GET", path: "/v1/orgs/a/records/b" });
  for (const socket of idle) socket.destroy();
  return answer;
}

function readAnswer(socket: net.Socket): Promise<HostileAnswer> {
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  socket.on("error", () => {});
  return new Promise((resolve) => {
    socket.on("close", () => resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), text }));
    socket.on("end", () => socket.destroy());
  });
}
