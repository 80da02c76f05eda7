import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** How long a client has to read its last response and disconnect. */
export const lingerMs = 1000;

/**
 * Lets the connection of a request whose response precedes the end of its body close in stages (RFC 9112, 9.6): first the server's
 * side, and the other one when the client has disconnected or sent the body. To be called once for a connection.
 *
 * Destroying a socket with unread input resets the connection. The client that is still sending would get an error of its
 * connection instead of the response.
 *
 * @param unfinished the responses that are not complete, or were completed just now.
 */
export function closeInStages(socket: Socket, unfinished: ReadonlySet<ServerResponse>): void {
  const destroySoon = socket.destroySoon.bind(socket);
  // Node calls it when a response has ended that announces the end of the connection.
  socket.destroySoon = () => {
    const unread = [...unfinished].find(({ req }) => !req.complete);
    if (unread === undefined) {
      destroySoon();
      return;
    }
    socket.end();
    discard(unread.req, () => socket.destroySoon());
    linger(socket);
  };
}

/** Destroys a socket whose own side is closed, unless its client disconnects soon. */
export function linger(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
}

/** Discards the rest of a body. */
function discard(request: IncomingMessage, onEnd: () => void): void {
  // Those who have begun to read it would keep it, or wait.
  request.removeAllListeners("data").removeAllListeners("readable");
  request.once("end", onEnd);
  request.resume();
}
