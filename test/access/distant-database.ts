// A proxy that delays the responses of a database.
import { once } from "node:events";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";
import pg from "pg";

export interface DistantDatabase {
  /** The URL of the proxy. */
  readonly url: string;
  close(): Promise<void>;
}

/** @param delayMs the delay of responses; requests are not delayed. */
export async function openDistantDatabase(databaseUrl: string, delayMs: number): Promise<DistantDatabase> {
  const { host, port } = new pg.Client({ connectionString: databaseUrl });
  const open = (): Socket => (host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host));
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const database = open();
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on("data", (data) => database.write(data));
    // Timers with the same delay fire in order.
    database.on("data", (data) => setTimeout(() => client.writable && client.write(data), delayMs));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(databaseUrl);
  url.searchParams.delete("host");
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
