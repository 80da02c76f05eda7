import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { create, toBinary } from "@bufbuild/protobuf";
import { GetMemberRequestSchema } from "../gen/iam/v1alpha/member_pb.ts";

const run = promisify(execFile);

/** Streams share few connections, as in gRPC clients. */
const mostSessions = 4;

/**
 * Keeps `concurrency` gRPC calls in flight for `forMs` milliseconds, with h2load of nghttp2 (Debian's nghttp2-client), because
 * Node's client costs more than the server that it measures.
 *
 * @returns the number of completed calls per second.
 * @throws Error if a call fails.
 */
export async function loadGrpc(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  path: string,
  concurrency: number,
  forMs: number,
): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), "tenantry-grpc-"));
  const body = join(directory, "body");
  await writeFile(body, grpcFrame(toBinary(GetMemberRequestSchema, create(GetMemberRequestSchema, { path }))));
  const sessions = Math.min(mostSessions, concurrency);
  const all = { "content-type": "application/grpc+proto", te: "trailers", ...headers };
  try {
    const { stdout } = await run("h2load", [
      `--clients=${sessions}`,
      `--max-concurrent-streams=${Math.ceil(concurrency / sessions)}`,
      `--duration=${Math.round(forMs)}ms`,
      `--data=${body}`,
      ...Object.entries(all).flatMap(([name, value]) => ["--header", `${name}: ${value}`]),
      `${url}${method}`,
    ]);
    const failed = Number(/(\d+) failed/.exec(stdout)?.[1]);
    const rate = Number(/, ([\d.]+) req\/s/.exec(stdout)?.[1]);
    // An error is a response of status 200 without a message, so its data is shorter.
    const dataBytes = Number(/\((\d+)\) data/.exec(stdout)?.[1]);
    const succeeded = Number(/(\d+) succeeded/.exec(stdout)?.[1]);
    if (failed !== 0 || !(dataBytes / succeeded > 100)) throw new Error(`h2load: ${stdout}`);
    return rate;
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Frames a message for gRPC: an uncompressed flag, the length, and the message. */
function grpcFrame(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
