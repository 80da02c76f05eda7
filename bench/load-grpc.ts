import { once } from "node:events";
import { type ClientHttp2Session, connect } from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import { GetMemberRequestSchema } from "../gen/iam/v1alpha/member_pb.ts";

/** Streams share few connections, as in gRPC clients. */
const sessionCount = 4;

/** Keeps `concurrency` gRPC calls in flight for `forMs` milliseconds. Returns the number of completed calls per second. */
export async function loadGrpc(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  path: string,
  concurrency: number,
  forMs: number,
): Promise<number> {
  const frame = grpcFrame(toBinary(GetMemberRequestSchema, create(GetMemberRequestSchema, { path })));
  const sessions = Array.from({ length: sessionCount }, () => connect(url));
  await Promise.all(sessions.map((session) => once(session, "connect")));
  let answered = 0;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: concurrency }, async (_, index) => {
      const session = sessions[index % sessionCount] as ClientHttp2Session;
      while (performance.now() < startedAt + forMs) {
        await call(session, method, headers, frame);
        answered++;
      }
    }),
  );
  const rate = answered / ((performance.now() - startedAt) / 1000);
  for (const session of sessions) session.close();
  return rate;
}

function call(
  session: ClientHttp2Session,
  method: string,
  headers: Readonly<Record<string, string>>,
  frame: Buffer,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ":method": "POST",
      ":path": method,
      "content-type": "application/grpc+proto",
      te: "trailers",
      ...headers,
    });
    let status: unknown;
    stream.on("trailers", (trailers) => (status = trailers["grpc-status"]));
    stream.on("error", reject);
    stream.on("end", () => (status === "0" ? resolve() : reject(new Error(`grpc-status ${String(status)}`))));
    stream.resume();
    stream.end(frame);
  });
}

/** Frames a message for gRPC: an uncompressed flag, the length, and the message. */
function grpcFrame(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
