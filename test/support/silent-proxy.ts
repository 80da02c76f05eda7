// A proxy to a PostgreSQL server, or to this one, whose connections can fall silent, like those through a firewall that drops packets.
import net from "node:net";

export interface SilentProxy {
  /** The URL of the database, through the proxy. */
  readonly url: string;
  /** Drops everything on the connections that are open, without closing them. New ones work. */
  silence(): void;
  /** Does so for good: new connections are opened and never answered, and none is closed when the other end closes it. */
  silenceForGood(): void;
  /** Closes all connections, and each new one at once, until it is mended. */
  cut(): void;
  mend(): void;
  /** Returns the number of open connections. */
  count(): number;
  close(): void;
}

/** Sees what the ends of a connection send. */
export interface Observer {
  readonly fromClient: (bytes: Buffer) => void;
  readonly fromServer: (bytes: Buffer) => void;
}

const unobserved: Observer = { fromClient: () => {}, fromServer: () => {} };

/**
 * @param ownPort the port of the proxy; by default, a free one.
 * @param observe called for each connection.
 */
export async function startSilentProxy(
  databaseUrl: string,
  ownPort = 0,
  observe: () => Observer = () => unobserved,
): Promise<SilentProxy> {
  const target = new URL(databaseUrl);
  const directory = target.searchParams.get("host");
  const port = Number(target.port || 5432);
  const address = directory === null ? { host: target.hostname, port } : { path: `${directory}/.s.PGSQL.${port}` };
  const sockets = new Set<net.Socket>();
  let generation = 0;
  let isSilentForGood = false;
  let isCut = false;
  // Both ends send small messages, and wait for their answers.
  const server = net.createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
    const own = generation;
    if (isCut) return void client.on("error", () => {}).destroy();
    sockets.add(client);
    client.on("end", () => isSilentForGood || client.end());
    if (isSilentForGood) return void client.on("error", () => {}).resume();
    const upstream = net.connect({ ...address, noDelay: true });
    const { fromClient, fromServer } = observe();
    const forward = (to: net.Socket, see: (bytes: Buffer) => void) => (bytes: Buffer) => {
      see(bytes);
      if (own === generation && !to.destroyed) to.write(bytes);
    };
    client.on("data", forward(upstream, fromClient));
    upstream.on("data", forward(client, fromServer));
    for (const socket of [client, upstream]) socket.on("error", () => {});
    client.on("close", () => {
      sockets.delete(client);
      upstream.destroy();
    });
    upstream.on("close", () => {
      if (own === generation) client.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(ownPort, "127.0.0.1", resolve));
  const url = new URL(target);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as net.AddressInfo).port);
  url.searchParams.delete("host");
  return {
    url: url.href,
    silence: () => void generation++,
    silenceForGood() {
      generation++;
      isSilentForGood = true;
    },
    cut() {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    mend: () => void (isCut = false),
    count: () => sockets.size,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
