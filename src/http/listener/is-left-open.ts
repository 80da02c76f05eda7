import { constants, type ServerHttp2Stream } from "node:http2";

/**
 * Whether Node leaves a stream open whose client has reset it with NO_ERROR after its response had ended. Clients of Go do that with a
 * response that precedes the end of their body. While something of the response still waits to be sent, Node waits for that, although
 * the connection no longer has the stream: it emits no "close", not even when the connection closes.
 */
export function isLeftOpen(stream: ServerHttp2Stream): boolean {
  const { closed, writableEnded, writableFinished, session } = stream;
  if (!closed || !writableEnded || writableFinished) return false;
  return session === undefined || session.destroyed || stream.state.state === constants.NGHTTP2_STREAM_STATE_IDLE;
}
