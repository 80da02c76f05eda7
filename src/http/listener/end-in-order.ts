// A request that the server refuses to read may follow others on its HTTP/1.1 connection. Those may have changed something, so their
// answers must reach the client. The server therefore reads nothing more from the connection, answers its requests in their order (RFC
// 9112, 9.3.2), and then ends it, with an error if it has refused something.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { PlainError } from "../plain-error.ts";
import { discardInput } from "./close-in-stages.ts";
import { refuse } from "./refuse.ts";

interface EndInOrder {
  /**
   * Ends a connection when its requests are answered. The first call for a connection counts.
   *
   * @param unfinished the responses that are not complete, in the order of their requests. Only the last request may be incomplete; then
   *   the error is about it, and is sent instead of its response, unless that has begun.
   * @param error sent as the last answer.
   */
  readonly endInOrder: (socket: Socket, unfinished: Iterable<ServerResponse>, error?: PlainError) => void;
  /** Reports whether a connection takes nothing more: what has not arrived of its last request never will. */
  readonly isEnding: (socket: Socket) => boolean;
}

/** @param onceEnded runs something as soon as a response has ended, complete or not. */
export function createEndInOrder(onceEnded: (response: ServerResponse, run: () => void) => void): EndInOrder {
  const ending = new WeakSet<Socket>();

  /** Ends a connection. All its responses are complete, except that to a request of which a part is missing. */
  const end = (socket: Socket, incomplete: ServerResponse | undefined, error: PlainError | undefined): void => {
    if (socket.destroyed || socket.writableEnded) return;
    if (incomplete?.headersSent === true) {
      if (incomplete.writableEnded) onceEnded(incomplete, () => socket.destroySoon());
      else socket.destroy();
    } else if (error === undefined) socket.destroySoon();
    else refuse(socket, error);
  };

  return {
    endInOrder(socket, unfinished, error) {
      if (ending.has(socket)) return;
      ending.add(socket);
      discardInput(socket);
      const responses = [...unfinished];
      const incomplete = responses.at(-1)?.req.complete === false ? responses.pop() : undefined;
      const before = responses.at(-1);
      if (before === undefined) end(socket, incomplete, error);
      else onceEnded(before, () => end(socket, incomplete, error));
    },

    isEnding: (socket) => ending.has(socket),
  };
}
