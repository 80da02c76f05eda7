import type { Socket } from "node:net";

export type Protocol = "h1" | "h2";

/** How the preface of HTTP/2 begins (RFC 9113, 3.4). No method of HTTP/1.1 does, and three bytes tell them apart. */
const prefaceStart = Buffer.from("PRI");

const nothing = Buffer.alloc(0);

/**
 * Reads the first bytes of a connection until they tell its protocol, puts them back and calls `decided`; the socket is
 * then paused. `decided` is never called for a socket that closes before that.
 *
 * The bytes are kept here until then: putting back too few of them would only fire the same event again, for ever.
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
