import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A TCP connection that stores what it receives. */
export interface RawConnection {
  readonly socket: Socket;
  readonly received: () => string;
  /** Waits until `text` has been received. */
  readonly until: (text: string) => Promise<void>;
  /** Settles when the connection is closed or fails. */
  readonly closed: Promise<void>;
}

/** @param options.allowHalfOpen whether the client may send after the server has ended its side. */
export async function openRaw(port: number, options: { allowHalfOpen?: boolean } = {}): Promise<RawConnection> {
  const socket = connect({ port, host: "127.0.0.1", ...options });
  let received = "";
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => (received += chunk));
  socket.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  await once(socket, "connect");
  return {
    socket,
    received: () => received,
    async until(text) {
      while (!received.includes(text)) {
        if (socket.destroyed) throw new Error(`closed without ${JSON.stringify(text)}: ${JSON.stringify(received)}`);
        await sleep(2);
      }
    },
    closed,
  };
}

/** Sends bytes and returns everything received until the server closes the connection. */
export async function exchange(port: number, sent: string | Buffer): Promise<string> {
  const connection = await openRaw(port);
  connection.socket.write(sent);
  await connection.closed;
  return connection.received();
}

/** Like `exchange`, in packets of one byte. */
export async function exchangeBytewise(port: number, sent: string): Promise<string> {
  const connection = await openRaw(port);
  connection.socket.setNoDelay(true);
  for (const byte of sent) {
    connection.socket.write(byte, "latin1");
    await sleep(1);
  }
  await connection.closed;
  return connection.received();
}

/** Parses the last of the received responses. */
export function parseAnswer(received: string): { status: number; head: string; body: unknown } {
  const begin = received.lastIndexOf("HTTP/1.1 ");
  const [head = "", body = ""] = received.slice(begin).split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), head, body: body === "" ? undefined : JSON.parse(body) };
}
