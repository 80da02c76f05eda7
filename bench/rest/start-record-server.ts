import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { pinToCore } from "../pin-to-core.ts";

export type ServerKind =
  /** `lanes` is the listener of the service with its handlers of REST and RPC. `connect h2` serves HTTP/2. */
  | { readonly name: "transcoder" | "lanes" | "connect" | "connect h2" | "grpc-js" }
  /** Bare node:http, which sends these bytes. */
  | { readonly name: "bare"; readonly answer: string };

interface RecordServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a server in its own process, on the first core. */
export async function startRecordServer(kind: ServerKind): Promise<RecordServer> {
  const child = fork(join(import.meta.dirname, "record-server.ts"));
  pinToCore(child.pid ?? 0, 0);
  child.send(kind);
  const [port] = (await once(child, "message")) as [number];
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}
