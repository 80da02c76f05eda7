import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** How long a client has to read its last response and disconnect. */
export const lingerMs = 1000;

/**
 * Lets an HTTP/1.1 connection close in stages (RFC 9112, 9.6): first the server's side, and the other one when the client has
 * disconnected. To be called once for a connection.
 *
 * Destroying a socket with unread input resets the connection. A client that is still sending, the rest of a body or what follows its
 * last request, would get an error of its connection instead of the response.
 */
export function closeInStages(socket: Socket): void {
  // Node calls it when a response has ended that announces the end of the connection.
  socket.destroySoon = () => {
    socket.end();
    discardInput(socket);
    linger(socket);
  };
}

/** Discards what comes on an HTTP/1.1 connection from now on. The request that is arriving never ends. */
export function discardInput(socket: Duplex): void {
  // With another listener, Node hands the input over to listeners, instead of to its parser.
  socket.removeAllListeners("data").on("data", ignore).resume();
}

/** Destroys a socket whose own side is closed, unless its client disconnects soon. */
export function linger(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
}

function ignore(): void {}
