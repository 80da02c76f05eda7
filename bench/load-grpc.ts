import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Streams share few connections, as in gRPC clients. */
const mostSessions = 4;

export interface GrpcCall {
  /** Such as `/iam.v1alpha.MembersService/GetMember`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The request in binary. */
  readonly message: Uint8Array;
}

/**
 * Keeps `concurrency` gRPC calls in flight for `forMs` milliseconds, with h2load of nghttp2 (Debian's nghttp2-client), because
 * Node's client costs more than the server that it measures.
 *
 * @param onAnswer called at the end with the duration of each call in milliseconds.
 * @returns the number of completed calls per second.
 * @throws Error if a call fails.
 */
export async function loadGrpc(
  url: string,
  { path, headers, message }: GrpcCall,
  concurrency: number,
  forMs: number,
  onAnswer?: (ms: number) => void,
): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), "tenantry-grpc-"));
  const [body, log] = [join(directory, "body"), join(directory, "log")];
  await writeFile(body, grpcFrame(message));
  const sessions = Math.min(mostSessions, concurrency);
  const all = { "content-type": "application/grpc+proto", te: "trailers", ...headers };
  try {
    const { stdout } = await run("h2load", [
      `--clients=${sessions}`,
      `--max-concurrent-streams=${Math.ceil(concurrency / sessions)}`,
      `--duration=${Math.round(forMs)}ms`,
      `--data=${body}`,
      ...(onAnswer === undefined ? [] : [`--log-file=${log}`]),
      ...Object.entries(all).flatMap(([name, value]) => ["--header", `${name}: ${value}`]),
      `${url}${path}`,
    ]).catch(explainMissing);
    const failed = Number(/(\d+) failed/.exec(stdout)?.[1]);
    const rate = Number(/, ([\d.]+) req\/s/.exec(stdout)?.[1]);
    // An error is a response of status 200 without a message, so it has no data.
    const dataBytes = Number(/\((\d+)\) data/.exec(stdout)?.[1]);
    const succeeded = Number(/(\d+) succeeded/.exec(stdout)?.[1]);
    if (failed !== 0 || !(dataBytes / succeeded > frameHeadBytes)) throw new Error(`h2load: ${stdout}`);
    if (onAnswer !== undefined) for (const ms of readLog(await readFile(log, "utf8"))) onAnswer(ms);
    return rate;
  } finally {
    await rm(directory, { recursive: true });
  }
}

function explainMissing(cause: NodeJS.ErrnoException): never {
  if (cause.code !== "ENOENT") throw cause;
  throw new Error("the load over gRPC is h2load, which is not installed; it is in Debian's package nghttp2-client", {
    cause,
  });
}

/** Returns durations in milliseconds. A line of the log has the start, the status and the duration in microseconds. */
function readLog(log: string): number[] {
  const lines = log.split("\n").filter((line) => line !== "");
  return lines.map((line) => Number(line.split("\t")[2]) / 1000);
}

const frameHeadBytes = 5;

/** Frames a message for gRPC: an uncompressed flag, the length, and the message. */
function grpcFrame(message: Uint8Array): Buffer {
  const head = Buffer.alloc(frameHeadBytes);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
