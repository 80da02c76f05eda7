/**
 * One clear-text port for HTTP/1.1 and for HTTP/2 with prior knowledge, which Node has only on its TLS server.
 *
 * Node's HTTP/1.1 server owns the port. A new connection is not given to it at once: its first bytes say whether the
 * HTTP/1.1 or the HTTP/2 server takes it. From then on Node does the work, and this file keeps count of what is open:
 * sockets with their HTTP/1.1 responses, HTTP/2 sessions and streams. From that it knows what to do when it closes.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import {
  constants,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type HttpHandler, type HttpRequest, type HttpResponse, isHttp2 } from "./handler.ts";
import { createHostCheck } from "./host-header.ts";
import { explainListenError } from "./listen-error.ts";
import { answerError } from "./plain-error.ts";
import { createHttp1Server, createHttp2Server, type ListenerLimits } from "./protocol-servers.ts";
import { badRequest, refusalOf, refuse, requestTimeout } from "./refuse.ts";
import { sniffProtocol } from "./sniff-protocol.ts";

export interface ListenerOptions {
  readonly handler: HttpHandler;
  readonly limits: ListenerLimits;
  /** Hears of a handler that threw (its request was answered with 500) and of connections that cannot be accepted. */
  readonly onError?: (error: unknown) => void;
}

export interface Listener {
  /** Rejects with an error that says what to change. Port 0 takes any free one. */
  listen(port: number, host: string): Promise<AddressInfo>;
  /**
   * Stops accepting, lets what is in flight finish and tells clients to go; destroys what is left after `graceMs`.
   * Calling it again waits for the first call's end.
   */
  close(graceMs: number): Promise<void>;
}

export function createListener({ handler, limits, onError = console.error }: ListenerOptions): Listener {
  /**
   * With the HTTP/1.1 responses that are not finished. Node says nothing of those that wait for one before them on a
   * connection that breaks: they have to go with the connection.
   */
  const sockets = new Map<Socket, Set<ServerResponse>>();
  const undecided = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  const streams = new Set<ServerHttp2Stream>();
  let closing: Promise<void> | undefined;

  const http1 = createHttp1Server(limits);
  const http2 = createHttp2Server(limits);

  const serveHttp1 = takeConnections(http1, accept);
  const namesHost = createHostCheck();
  http1.on("clientError", onClientError);
  http1.on("connect", onConnect);
  http1.on("request", onHttp1Request);
  http1.on("checkExpectation", onUnknownExpectation);
  http2.on("session", onSession);
  http2.on("request", onHttp2Request);
  http2.on("checkExpectation", onUnknownExpectation);

  function accept(socket: Socket): void {
    sockets.set(socket, new Set());
    undecided.add(socket);
    // Node's servers listen too, but not before they have the socket and not after they let it go.
    socket.on("error", ignore);
    const slow = setTimeout(() => refuse(socket, requestTimeout), limits.headersTimeoutMs);
    socket.once("close", () => {
      clearTimeout(slow);
      undecided.delete(socket);
      sockets.delete(socket);
    });
    sniffProtocol(socket, (protocol) => {
      clearTimeout(slow);
      undecided.delete(socket);
      // Refused for being slow, and now it speaks.
      if (socket.writableEnded) return;
      if (protocol === "h1") {
        serveHttp1(socket);
        socket.resume();
      } else {
        // Node's HTTP/1.1 server lets clients half-close; a session would never notice that its client left.
        socket.allowHalfOpen = false;
        http2.emit("connection", socket);
      }
    });
  }

  function onConnect(_request: IncomingMessage, socket: Duplex): void {
    refuse(socket, {
      code: 405,
      status: "UNIMPLEMENTED",
      reason: "METHOD_NOT_SUPPORTED",
      message: "This server is no proxy: it does not answer CONNECT.",
    });
  }

  function onUnknownExpectation(_request: HttpRequest, response: HttpResponse): void {
    answerError(response, {
      code: 417,
      status: "INVALID_ARGUMENT",
      reason: "EXPECTATION_UNKNOWN",
      message: "The only expectation that this server knows is 100-continue.",
    });
  }

  function onSession(session: ServerHttp2Session): void {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    session.setTimeout(limits.keepAliveTimeoutMs);
    session.on("timeout", () => {
      if (!isBusy(session)) session.close();
    });
  }

  function isBusy(session: ServerHttp2Session): boolean {
    for (const stream of streams) if (stream.session === session) return true;
    return false;
  }

  function onHttp1Request(request: IncomingMessage, response: ServerResponse): void {
    if (closing !== undefined) response.shouldKeepAlive = false;
    sockets.get(request.socket)?.add(response);
    response.once("close", onHttp1End);
    serve(request, response);
  }

  function onHttp1End(this: ServerResponse): void {
    sockets.get(this.req.socket)?.delete(this);
    if (closing !== undefined) closeIdleHttp1();
  }

  function onHttp2Request(request: Http2ServerRequest, response: Http2ServerResponse): void {
    const { stream } = response;
    // Reset since it was read: the cheap half of a rapid reset, which Node ends after a thousand or so.
    if (stream.closed) return;
    streams.add(stream);
    stream.once("close", onHttp2End);
    serve(request, response);
  }

  function onHttp2End(this: ServerHttp2Stream): void {
    streams.delete(this);
  }

  function serve(request: HttpRequest, response: HttpResponse): void {
    if (!namesHost(request)) return answerError(response, badRequest("The request does not name a valid host."));
    try {
      const served = handler(request, response);
      if (served !== undefined) served.catch((error: unknown) => fail(response, error));
    } catch (error) {
      fail(response, error);
    }
  }

  function fail(response: HttpResponse, error: unknown): void {
    onError(error);
    if (!response.headersSent) {
      answerError(response, {
        code: 500,
        status: "INTERNAL",
        reason: "INTERNAL",
        message: "Something went wrong here.",
      });
    } else if (isHttp2(response)) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    else response.destroy();
  }

  function onClientError(error: NodeJS.ErrnoException, socket: Socket): void {
    const refusal = refusalOf(error);
    if (refusal === undefined || hasBegunAnswer(socket)) socket.destroy();
    else refuse(socket, refusal);
  }

  function hasBegunAnswer(socket: Socket): boolean {
    for (const response of sockets.get(socket) ?? []) if (response.headersSent) return true;
    return false;
  }

  /**
   * Destroys connections that wait for a next request. Node counts one among them whose response has ended but not
   * left yet, and would cut it: while there is such a response, nothing is done, and its finish comes back here.
   */
  function closeIdleHttp1(): void {
    for (const responses of sockets.values()) for (const response of responses) if (response.writableEnded) return;
    http1.closeIdleConnections();
  }

  function listen(port: number, host: string): Promise<AddressInfo> {
    return new Promise((resolve, reject) => {
      const refused = (error: Error) => reject(explainListenError(error, port, host));
      http1.once("error", refused);
      try {
        http1.listen(port, host, () => {
          http1.off("error", refused);
          http1.on("error", onError);
          resolve(http1.address() as AddressInfo);
        });
      } catch (error) {
        refused(error as Error);
      }
    });
  }

  async function drain(graceMs: number): Promise<void> {
    // Not http1.close(): that cuts responses, as above, and stops the timers of those requests that still arrive.
    const closed = new Promise<void>((resolve) => void NetServer.prototype.close.call(http1, () => resolve()));
    for (const socket of undecided) socket.destroy();
    // Sends `Connection: close` where the headers have not left yet.
    for (const responses of sockets.values()) for (const response of responses) response.shouldKeepAlive = false;
    closeIdleHttp1();
    for (const session of sessions) session.close();
    const grace = setTimeout(() => {
      for (const socket of sockets.keys()) socket.destroy();
    }, graceMs);
    await closed;
    clearTimeout(grace);
    http1.close();
  }

  return {
    listen,
    close: (graceMs) => (closing ??= drain(graceMs)),
  };
}

/** Puts `accept` between a server and its new connections; returns what gives it one. */
function takeConnections(server: Server, accept: (socket: Socket) => void): (socket: Socket) => void {
  const [serve] = server.listeners("connection") as [(socket: Socket) => void];
  server.off("connection", serve);
  server.on("connection", accept);
  return (socket) => serve.call(server, socket);
}

function ignore(): void {}
