import type { Writable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";

/** Writes pieces to a socket with backpressure. */
export interface StreamWriter {
  /** Checks whether written data is waiting for the socket. */
  isFull(): boolean;
  /** @returns a promise to await before the next piece; undefined if the next piece can be written immediately. */
  write(piece: string | Uint8Array): Promise<unknown> | undefined;
  end(last: string): void;
}

/** The approximate maximum length of a batch, in characters. Text written in one turn of the event loop is batched. */
const batchLength = 16 * 1024;

/**
 * Creates a writer. After each batch, the caller has to wait for a turn of the event loop; otherwise a method that never
 * waits for anything would block the event loop and the sockets of all other calls.
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
