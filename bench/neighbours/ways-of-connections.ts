// What clients without a credential hold open, from one address.
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { connect as connectTcp } from "node:net";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { frame } from "../../test/http/http2-client.ts";
import { type Answers, count, openFrom } from "./keep-busy.ts";
import type { Place } from "./place.ts";

const localAddress = "127.0.0.2";
const maxWatches = 100;
const maxReflections = 10;
const maxConnections = 2_000;
const maxRequests = 1_000;

/** Streams that a connection may have at once. */
const streamsOfSession = 250;

/** An empty message of gRPC: the health of the server as a whole. */
const emptyMessage = Buffer.alloc(5);

const watchPath = "/grpc.health.v1.Health/Watch";
const reflectionPath = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";

/** Holds as many health Watches as an address may have, and opens others, which are refused. */
export async function holdWatches({ url }: Place, signal: AbortSignal, answers: Answers): Promise<void> {
  const watch = (session: ClientHttp2Session): ClientHttp2Stream => {
    const stream = openCall(session, watchPath, answers);
    stream.end(emptyMessage);
    return stream;
  };
  await holdStreams(url, maxWatches, watch, signal, answers);
}

/** Opens health Watches, and closes each when it has a message. */
export async function reopenWatches({ url }: Place, signal: AbortSignal, answers: Answers): Promise<void> {
  const session = openSession(url);
  const reopen = async (): Promise<void> => {
    while (!signal.aborted) {
      const stream = openCall(session, watchPath, answers);
      stream.on("error", () => undefined);
      stream.end(emptyMessage);
      await Promise.race([once(stream, "data").catch(() => undefined), once(stream, "close"), once(signal, "abort")]);
      stream.close();
    }
  };
  await Promise.all(Array.from({ length: 64 }, reopen));
  session.destroy();
}

/** Opens more Watches than are announced, on many connections at once, without waiting for the settings of the server. */
export async function burstWatches({ url }: Place, signal: AbortSignal, answers: Answers): Promise<void> {
  const streams = Array.from({ length: streamsOfSession }, (_, index) => openingOf(2 * index + 1));
  const preface = Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(4, 0, 0), ...streams]);
  while (!signal.aborted) {
    const sockets = Array.from({ length: connectionsOfBurst }, () => openFrom(url, localAddress));
    for (const socket of sockets) socket.on("error", () => undefined);
    await Promise.race([
      Promise.all(sockets.map((socket) => once(socket, "connect"))).catch(() => undefined),
      sleep(500),
    ]);
    for (const socket of sockets) socket.on("data", () => count(answers, "data")).write(preface);
    await sleep(500);
    for (const socket of sockets) socket.destroy();
  }
}

const connectionsOfBurst = 40;

/** Encodes the frames that open a health Watch. */
function openingOf(stream: number): Buffer {
  // :method POST, :scheme http, and literal fields (RFC 7541, 6.2.2).
  const fields = [":path", watchPath, ":authority", "a", "content-type", "application/grpc", "te", "trailers"];
  const literals = fields.map(
    (text, index) => `${index % 2 === 0 ? "\0" : ""}${String.fromCharCode(text.length)}${text}`,
  );
  const head = Buffer.concat([Buffer.from([0x83, 0x86]), Buffer.from(literals.join(""))]);
  return Buffer.concat([frame(1, 4, stream, head), frame(0, 1, stream, emptyMessage)]);
}

/** Asks reflection for files, on as many streams as an address may have, without waiting for answers. */
export async function askReflection({ url }: Place, signal: AbortSignal, answers: Answers): Promise<void> {
  const session = openSession(url, largeWindow);
  const streams = Array.from({ length: maxReflections }, () => openCall(session, reflectionPath, answers));
  const questions = Buffer.concat(Array.from({ length: 100 }, () => fileQuestion("iam.v1alpha.MembersService")));
  for (const stream of streams) stream.on("error", () => undefined);
  while (!signal.aborted) {
    for (const stream of streams) if (!stream.destroyed && stream.writableLength === 0) stream.write(questions);
    await sleep(20);
  }
  session.destroy();
}

/** Encodes `file_containing_symbol` of reflection as a message of gRPC. */
function fileQuestion(symbol: string): Buffer {
  const message = Buffer.from(`\u0022${String.fromCharCode(symbol.length)}${symbol}`);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

function openCall(session: ClientHttp2Session, path: string, answers: Answers): ClientHttp2Stream {
  const headers = { "content-type": "application/grpc", te: "trailers" };
  const stream = session.request({ ":method": "POST", ":path": path, ...headers });
  stream.on("data", () => count(answers, "data"));
  stream.on("trailers", (trailers) => count(answers, `grpc-status ${String(trailers["grpc-status"])}`));
  return stream;
}

/** Asks for large answers, and reads nothing of them. */
export async function holdUnreadAnswers({ url }: Place, signal: AbortSignal, answers: Answers): Promise<void> {
  const ask = (session: ClientHttp2Session): ClientHttp2Stream => {
    const stream = session.request({ ":path": "/openapi.json" });
    stream.pause();
    return stream;
  };
  await holdStreams(url, maxRequests, ask, signal, answers);
}

/** Holds streams on as many connections as they need, and opens others in a loop: what is beyond the limit. */
async function holdStreams(
  url: string,
  limit: number,
  open: (session: ClientHttp2Session) => ClientHttp2Stream,
  signal: AbortSignal,
  answers: Answers,
): Promise<void> {
  const sessions = Array.from({ length: Math.ceil(limit / streamsOfSession) + 1 }, () => openSession(url));
  const start = (session: ClientHttp2Session | undefined): ClientHttp2Stream | undefined => {
    if (session === undefined || session.destroyed) return undefined;
    const stream = open(session);
    stream.on("response", ({ ":status": status }) => count(answers, String(status)));
    stream.on("error", () => count(answers, "cut"));
    return stream;
  };
  for (let number = 0; number < limit; number++) start(sessions[Math.floor(number / streamsOfSession)]);
  while (!signal.aborted) {
    const stream = start(sessions.at(-1));
    if (stream !== undefined) await Promise.race([once(stream, "close").catch(() => undefined), sleep(20)]);
    stream?.close();
    await sleep(1);
  }
  for (const session of sessions) session.destroy();
}

/** So that answers wait in the server. */
const smallWindow = 1_024;
const largeWindow = 1_048_576;

function openSession(url: string, initialWindowSize = smallWindow): ClientHttp2Session {
  const { hostname, port } = new URL(url);
  const createConnection = () => connectTcp({ port: Number(port), host: hostname, localAddress });
  const session = connect(url, { createConnection, settings: { initialWindowSize } });
  session.on("error", () => undefined);
  return session;
}

/** Holds as many connections as an address may have, and opens others, which are closed. */
export async function holdConnections({ url }: Place, signal: AbortSignal, answers: Answers): Promise<void> {
  const held = Array.from({ length: maxConnections }, () => openFrom(url, localAddress));
  for (const socket of held) socket.on("error", () => count(answers, "failed"));
  while (!signal.aborted) {
    const socket = openFrom(url, localAddress);
    socket.on("error", () => undefined);
    await Promise.race([once(socket, "close").catch(() => undefined), sleep(1_000)]);
    count(answers, socket.destroyed ? "closed" : "open");
    socket.destroy();
  }
  for (const socket of held) socket.destroy();
}

/** Sends the bodies of sign-ins byte by byte, on as many connections as an address may have requests in flight. */
export async function sendSlowBodies({ url }: Place, signal: AbortSignal, answers: Answers): Promise<void> {
  const head = [
    "POST /oauth2/token HTTP/1.1",
    `host: ${new URL(url).host}`,
    "content-type: application/x-www-form-urlencoded",
    "content-length: 16384",
  ];
  const sockets = Array.from({ length: maxRequests - 1 }, () => openFrom(url, localAddress));
  for (const socket of sockets) {
    socket.on("error", () => count(answers, "failed"));
    socket.on("data", (chunk) => count(answers, chunk.toString("latin1", 9, 12)));
    socket.write(`${head.join("\r\n")}\r\n\r\n`);
  }
  while (!signal.aborted) {
    for (const socket of sockets) {
      if (socket.destroyed || signal.aborted) continue;
      socket.write("a");
      count(answers, "byte");
    }
    await sleep(100);
  }
  for (const socket of sockets) socket.destroy();
}
