import { constants, type ServerHttp2Stream } from "node:http2";

/**
 * Whether Node leaves a stream open whose response has ended, although the connection no longer has it. Then there is no "close", not
 * even when the connection closes, and what has been received of the body stays in memory. Node waits for one of these, in vain:
 *
 * - that the rest of the response is sent, after the client has reset the stream with NO_ERROR. Clients of Go do that with a response
 *   that precedes the end of their body;
 * - that the rest of the body is read, after the handler has begun to read it and has stopped.
 */
export function isLeftOpen({ closed, writableEnded, session, state }: ServerHttp2Stream): boolean {
  if (!closed || !writableEnded) return false;
  return session === undefined || session.destroyed || state.state === constants.NGHTTP2_STREAM_STATE_IDLE;
}
