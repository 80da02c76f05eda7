// Clients behind a proxy that read and write, and report each call that fails. They repeat nothing but what a connection of HTTP/2 has
// refused without a look at it (RFC 9113, 8.7), as clients of HTTP/2 do.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";
import { Agent, request } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { Client as GrpcClient, credentials } from "@grpc/grpc-js";
import { create } from "@bufbuild/protobuf";
import {
  ProjectsService,
  UpdateProjectRequestSchema,
  GetProjectRequestSchema,
} from "../../gen/iam/v1alpha/project_pb.ts";
import { callUnary } from "../http/grpc-client.ts";

/** Certificates of tests are their own authorities. */
export const unchecked = { rejectUnauthorized: false, servername: "iam.example.com" };

export interface Client {
  readonly name: string;
  read(path: string): Promise<string>;
  write(path: string, description: string): Promise<void>;
  close(): void;
}

/** Sends a request of REST. Resolves to the status and the body. */
type Send = (method: string, path: string, body: string) => Promise<readonly [status: number, body: string]>;

/** @param key is sent with each call. */
export function createClients(url: string, key: string): readonly Client[] {
  const kept = new Agent({ keepAlive: true, maxSockets: 1 });
  const http2 = createHttp2(url, key);
  const grpc = new GrpcClient(
    new URL(url).host,
    credentials.createSsl(null, null, null, { rejectUnauthorized: false }),
  );
  const { getProject, updateProject } = ProjectsService.method;
  return [
    { ...createRest("HTTP/1.1, kept", sendHttp1(url, key, kept)), close: () => kept.destroy() },
    { ...createRest("HTTP/1.1, a connection each", sendHttp1(url, key, false)), close: () => {} },
    { ...createRest("HTTP/2", http2.send), close: () => http2.close() },
    {
      name: "gRPC",
      read: async (path) =>
        (await callUnary(grpc, getProject, create(GetProjectRequestSchema, { path }), key)).description,
      async write(path, description) {
        await callUnary(
          grpc,
          updateProject,
          create(UpdateProjectRequestSchema, { path, project: { description } }),
          key,
        );
      },
      close: () => grpc.close(),
    },
  ];
}

function createRest(name: string, send: Send): Omit<Client, "close"> {
  const call = async (method: string, path: string, body: string): Promise<string> => {
    const [status, text] = await send(method, `/iam/v1alpha${path}`, body);
    if (status !== 200) throw new Error(`${status} ${text}`);
    return (JSON.parse(text) as { description?: string }).description ?? "";
  };
  return {
    name,
    read: (path) => call("GET", path, ""),
    write: async (path, description) => void (await call("PATCH", path, JSON.stringify({ description }))),
  };
}

const headersOf = (key: string) => ({ authorization: `Bearer ${key}`, "content-type": "application/json" });

function sendHttp1(url: string, key: string, agent: Agent | false): Send {
  return async (method, path, body) => {
    const sent = request(url + path, { method, agent, headers: headersOf(key), ...unchecked });
    sent.end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    return [response.statusCode ?? 0, (await response.setEncoding("utf8").toArray()).join("")];
  };
}

function createHttp2(url: string, key: string): { readonly send: Send; close(): void } {
  let session: ClientHttp2Session | undefined;
  const open = (): ClientHttp2Session => {
    if (session === undefined || session.closed || session.destroyed)
      session = connect(url, unchecked).on("error", () => {});
    return session;
  };
  const sendOnce = async (...[method, path, body]: Parameters<Send>): ReturnType<Send> => {
    const endStream = body === "";
    const stream = open().request({ ":method": method, ":path": path, ...headersOf(key) }, { endStream });
    if (!endStream) stream.end(body);
    const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
    return [Number(headers[":status"]), (await stream.setEncoding("utf8").toArray()).join("")];
  };
  return {
    async send(...call) {
      try {
        return await sendOnce(...call);
      } catch (error) {
        if (!String(error).includes("REFUSED_STREAM")) throw error;
        return sendOnce(...call);
      }
    },
    close: () => session?.close(),
  };
}

export interface Calls {
  /** The fewest that one of the clients has made. */
  readonly made: () => number;
  /** Stops them. Resolves to what went wrong, by the name of the client. */
  stop(): Promise<Readonly<Record<string, readonly string[]>>>;
}

/** Lets each client write and read a project of its own. */
export function startCalls(clients: readonly Client[], projects: readonly string[]): Calls {
  const stopping = new AbortController();
  const made = clients.map(() => 0);
  const failures = clients.map((): string[] => []);
  const work = async ({ read, write }: Client, index: number): Promise<void> => {
    const path = projects[index] ?? "";
    let possible: string[] = [];
    for (; !stopping.signal.aborted; await sleep(5)) {
      const description = randomUUID();
      try {
        await write(path, description);
        possible = [description];
        const found = await read(path);
        if (!possible.includes(found)) throw new Error(`read ${found} after ${possible.join(" or ")} was written`);
        made[index] = (made[index] ?? 0) + 2;
      } catch (error) {
        possible.push(description);
        failures[index]?.push(String(error));
      }
    }
  };
  const working = Promise.all(clients.map(work));
  return {
    made: () => Math.min(...made),
    async stop() {
      stopping.abort();
      await working;
      return Object.fromEntries(clients.map(({ name }, index) => [name, failures[index] ?? []]));
    },
  };
}
