import { once } from "node:events";
import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from "node:http2";

export interface Http2Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

export async function openHttp2(url: string): Promise<ClientHttp2Session> {
  const session = connect(url);
  session.on("error", () => undefined);
  await once(session, "remoteSettings");
  return session;
}

/**
 * Rejects if the stream is reset before its end.
 *
 * @param sent the body. GET has none: its stream has ended when it begins.
 */
export async function callHttp2(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  sent?: string,
): Promise<Http2Answer> {
  const stream = session.request(headers);
  let answered: Readonly<Record<string, unknown>> = {};
  let body = "";
  stream.setEncoding("utf8");
  stream.on("response", (received) => (answered = received));
  stream.on("data", (chunk: string) => (body += chunk));
  stream.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => stream.once("close", () => resolve()));
  stream.end(sent);
  await closed;
  const status = answered[":status"];
  if (stream.rstCode !== 0 || status === undefined) throw new Error("the stream was cut");
  return { status: Number(status), headers: answered, body };
}

export const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/** Encodes a frame (RFC 9113, 4.1). */
export function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(payload.length, 0, 3);
  header.writeUInt8(type, 3);
  header.writeUInt8(flags, 4);
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, payload]);
}
