import type { Writable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";

/** Writes pieces to a socket no faster than it takes them. */
export interface StreamWriter {
  /** Whether what was written waits for the socket. */
  isFull(): boolean;
  /** @returns a promise to wait for before the next piece; undefined when there may be another at once. */
  write(piece: string | Uint8Array): Promise<unknown> | undefined;
  end(last: string): void;
}

/** Pieces of text that come in one turn of the event loop are written together, up to about this many characters. */
const batchLength = 16 * 1024;

/**
 * A method that never waits for anything would keep the event loop, with the sockets of all others, from its turn: after
 * each batch it has to wait for one.
 */
export function createStreamWriter(out: Writable): StreamWriter {
  let batch = "";
  let scheduled: NodeJS.Immediate | undefined;
  let isFull = false;
  let room: PromiseWithResolvers<void> | undefined;

  function makeRoom(): void {
    isFull = false;
    room?.resolve();
    room = undefined;
  }
  out.on("drain", makeRoom);
  out.once("close", makeRoom);

  function send(piece: string | Uint8Array): void {
    if (!out.destroyed && !out.write(piece)) isFull = true;
  }

  function flush(): void {
    clearImmediate(scheduled);
    scheduled = undefined;
    const text = batch;
    batch = "";
    if (text !== "") send(text);
  }

  function waitForRoom(): Promise<void> {
    room ??= Promise.withResolvers<void>();
    return room.promise;
  }

  return {
    isFull: () => isFull,
    write(piece) {
      if (typeof piece === "string") {
        batch += piece;
        if (batch.length < batchLength) {
          scheduled ??= setImmediate(flush);
          return isFull ? waitForRoom() : undefined;
        }
        flush();
      } else {
        flush();
        send(piece);
      }
      return isFull ? waitForRoom() : nextTurn();
    },
    end(last) {
      clearImmediate(scheduled);
      if (!out.destroyed) out.end(batch + last);
      batch = "";
      makeRoom();
    },
  };
}
