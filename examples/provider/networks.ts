import { once } from "node:events";
import { type AddressInfo, type Server, type Socket, createServer } from "node:net";
import type { Driver } from "./driver.ts";
import { openRecords } from "./records.ts";

const host = "127.0.0.1";

interface Listener {
  readonly server: Server;
  readonly sockets: Set<Socket>;
}

/** Networks: ports of the loopback interface that send back what they receive. A network keeps its port over a restart. */
export function createNetworks(directory: string, log: (line: string) => void): Driver {
  const records = openRecords<{ readonly port: number }>(directory);
  const listeners = new Map<string, Listener>();

  /** @param port 0 for any free one. */
  const listen = async (id: string, port: number): Promise<Listener> => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
      socket.pipe(socket);
    });
    server.listen(port, host);
    await once(server, "listening");
    const listener = { server, sockets };
    listeners.set(id, listener);
    return listener;
  };

  const stop = async (id: string): Promise<void> => {
    const listener = listeners.get(id);
    if (listener === undefined) return;
    listeners.delete(id);
    listener.server.close();
    for (const socket of listener.sockets) socket.destroy();
    await once(listener.server, "close");
  };

  return {
    service: "network",
    type: "networks",
    operations: {
      create: {
        async run({ resource: { id } }) {
          const { server } = listeners.get(id) ?? (await listen(id, 0));
          const { port } = server.address() as AddressInfo;
          await records.put(id, { port });
          return { outputs: { address: `${host}:${port}` } };
        },
      },
      delete: {
        async run({ resource: { id } }) {
          await stop(id);
          await records.delete(id);
          return {};
        },
      },
    },
    async restore() {
      for (const [id, { port }] of await records.all()) {
        await listen(id, port).catch((error: unknown) => log(`cannot restore the network ${id}: ${String(error)}`));
      }
    },
    async close() {
      await Promise.all([...listeners.keys()].map(stop));
    },
  };
}
