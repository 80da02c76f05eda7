import type { Socket } from "node:net";

export type Protocol = "h1" | "h2";

/** The start of the HTTP/2 preface (RFC 9113, 3.4). No HTTP/1.1 method starts like it, so three bytes are sufficient. */
const prefaceStart = Buffer.from("PRI");

const nothing = Buffer.alloc(0);

/**
 * Reads the first bytes of a connection until the protocol is known, puts them back, pauses the socket and calls `decided`.
 * Does not call `decided` if the socket closes before that.
 *
 * The bytes are buffered here, because putting back too few of them would emit the same event again, endlessly.
 */
export function sniffProtocol(socket: Socket, decided: (protocol: Protocol) => void): void {
  let head: Buffer = nothing;

  function read(chunk: Buffer): void {
    head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
    const protocol = protocolOf(head);
    if (protocol === undefined) return;
    socket.off("data", read);
    socket.off("end", destroy);
    socket.pause();
    socket.unshift(head);
    decided(protocol);
  }

  function destroy(): void {
    socket.destroy();
  }

  socket.on("data", read);
  socket.once("end", destroy);
}

function protocolOf(head: Buffer): Protocol | undefined {
  const length = Math.min(head.length, prefaceStart.length);
  if (prefaceStart.compare(head, 0, length, 0, length) !== 0) return "h1";
  return length === prefaceStart.length ? "h2" : undefined;
}
