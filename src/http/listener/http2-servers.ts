import type {
  Http2Server,
  Http2ServerRequest,
  Http2ServerResponse,
  IncomingHttpHeaders,
  ServerHttp2Session,
  ServerHttp2Stream,
} from "node:http2";
import { continueWhenRead } from "./expect-continue.ts";
import { createHttp2Server, type ListenerLimits } from "./protocol-servers.ts";

/** Returns the error code of HTTP/2 to refuse a new stream with; undefined for none. */
export type RefusalOfStream = (session: ServerHttp2Session, headers: IncomingHttpHeaders) => number | undefined;

type OnRequest = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

interface Http2Handlers {
  readonly onSession: (session: ServerHttp2Session) => void;
  readonly onRequest: OnRequest;
  readonly onUnknownExpectation: OnRequest;
  readonly refusalOfStream?: RefusalOfStream | undefined;
}

/** Returns the server for a number of announced streams. There is one for each number, because Node sets the number for a whole server. */
export function createHttp2Servers(limits: ListenerLimits, handlers: Http2Handlers): (streams: number) => Http2Server {
  const servers = new Map<number, Http2Server>();

  const start = (streams: number): Http2Server => {
    const { onSession, onRequest, onUnknownExpectation, refusalOfStream } = handlers;
    const server = createHttp2Server(limits, streams);
    servers.set(streams, server);
    server.on("session", onSession);
    server.on("request", onRequest);
    server.on("checkContinue", (request: Http2ServerRequest, response: Http2ServerResponse) => {
      continueWhenRead(request, response);
      onRequest(request, response);
    });
    server.on("checkExpectation", onUnknownExpectation);
    if (refusalOfStream !== undefined) refuseStreams(server, refusalOfStream);
    return server;
  };

  return (streams) => servers.get(streams) ?? start(streams);
}

/** Resets streams that are refused, before there is a request. To be called when the server has a listener for requests. */
function refuseStreams(server: Http2Server, refusalOf: RefusalOfStream): void {
  const [serve] = server.listeners("stream") as [(...stream: unknown[]) => void];
  server.off("stream", serve);
  server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ...rest: unknown[]) => {
    const session = stream.session as ServerHttp2Session | undefined;
    const refusal = session === undefined ? undefined : refusalOf(session, headers);
    if (refusal === undefined) serve.call(server, stream, headers, ...rest);
    // The code is an error of the stream, which would end the process if nobody listened.
    else stream.on("error", () => {}).close(refusal);
  });
}
