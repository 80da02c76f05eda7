/**
 * A clear-text port for both HTTP/1.1 and HTTP/2 with prior knowledge. Node supports both on one port only with TLS.
 *
 * Node's HTTP/1.1 server owns the port. The first bytes of a new connection determine whether the HTTP/1.1 or the HTTP/2 server
 * gets it. This file tracks open sockets with their HTTP/1.1 responses, HTTP/2 sessions and streams, for a graceful close.
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
import { probeClient } from "./probe-client.ts";
import { type HttpHandler, type HttpRequest, type HttpResponse, isHttp2 } from "../http-messages.ts";
import { closeInStages } from "./close-in-stages.ts";
import { continueWhenRead } from "./expect-continue.ts";
import { createHeadCheck, refuseHead } from "./check-head.ts";
import { createEndInOrder } from "./end-in-order.ts";
import { listenOn } from "./listen.ts";
import { isLeftOpen } from "./is-left-open.ts";
import { toOriginForm } from "./origin-form.ts";
import { answerError } from "../plain-error.ts";
import { createHttp2Servers, type RefusalOfStream } from "./http2-servers.ts";
import { createHttp1Server, type ListenerLimits } from "./protocol-servers.ts";
import {
  internalError,
  noProxy,
  refusalOf,
  refuse,
  requestTimeout,
  tooManyPipelined,
  unknownExpectation,
} from "./refuse.ts";
import { createOnceEnded } from "./once-ended.ts";
import { createOverdue, readLimits } from "./unread-answers.ts";
import { sniffProtocol } from "./sniff-protocol.ts";

export interface ListenerOptions {
  readonly handler: HttpHandler;
  readonly limits: ListenerLimits;
  /** Called with errors that handlers throw (the request gets a 500) and with errors of accepting connections. */
  readonly onError?: (error: unknown) => void;
  readonly admit?: (socket: Socket) => boolean;
  /** Returns how many streams to announce to the HTTP/2 session that a connection becomes. Default: `maxConcurrentStreams` */
  readonly streamsOf?: (socket: Socket) => number;
  readonly onSession?: (session: ServerHttp2Session) => void;
  /** Decides about each new stream. Returns the error code of HTTP/2 to refuse it with; undefined for none. */
  readonly refusalOfStream?: RefusalOfStream;
  /** The settings of its address, which an error names that says why it cannot listen. Default: HOST and PORT. */
  readonly settings?: string;
  /** Called with the address of a connection that was closed because there are `maxConnections`. */
  readonly onDrop?: (address: string | undefined) => void;
}

export interface Listener {
  /** Rejects with an error that says what to change. Port 0 selects a free port. */
  listen(port: number, host: string): Promise<AddressInfo>;
  /**
   * Stops accepting connections, lets requests in flight finish, and the first ones of connections that waited, and tells clients
   * to disconnect; destroys remaining connections after `graceMs`. Further calls wait for the first one.
   */
  close(graceMs: number): Promise<void>;
  /** Counts what is open. */
  readonly openExchanges: () => OpenExchanges;
}

/** By protocol: connections that have sent enough to know it, and requests whose responses have not ended. */
export type OpenExchanges = Readonly<Record<"h1" | "h2", { readonly connections: number; readonly requests: number }>>;

export function createListener(options: ListenerOptions): Listener {
  const { handler, limits, onError = console.error, admit = () => true, onDrop = ignore } = options;
  const { streamsOf = () => limits.maxConcurrentStreams } = options;
  /**
   * Open sockets with their unfinished HTTP/1.1 responses. When a connection breaks, Node emits no event for pipelined
   * responses that wait for an earlier one in some versions, so they are removed with their socket.
   */
  const sockets = new Map<Socket, Set<ServerResponse>>();
  const undecided = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  const streams = new Set<ServerHttp2Stream>();
  let closing: Promise<void> | undefined;

  const isOverdue = createOverdue(limits.reads ?? readLimits);
  const cutting = setInterval(cutUnread, cutIntervalMs(limits)).unref();

  const http1 = createHttp1Server(limits);
  const serveHttp1 = takeConnections(http1, accept);
  const problemOf = createHeadCheck();
  const onceEnded = createOnceEnded();
  const { endInOrder, isEnding } = createEndInOrder(onceEnded);
  http1.on("drop", (dropped) => onDrop(dropped?.remoteAddress));
  http1.on("clientError", onClientError);
  http1.on("connect", onConnect);
  http1.on("request", onHttp1Request);
  http1.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    continueWhenRead(request, response);
    onHttp1Request(request, response);
  });
  http1.on("checkExpectation", onUnknownExpectation);

  const http2For = createHttp2Servers(limits, {
    onSession,
    onRequest: onHttp2Request,
    onUnknownExpectation,
    refusalOfStream: options.refusalOfStream,
  });

  function accept(socket: Socket): void {
    if (!admit(socket)) {
      socket.destroy();
      return;
    }
    const unfinished = new Set<ServerResponse>();
    sockets.set(socket, unfinished);
    undecided.add(socket);
    // Node's servers listen for errors too, but only while they have the socket.
    socket.on("error", ignore);
    socket.once("end", onInputEnd);
    const slow = setTimeout(() => refuse(socket, requestTimeout), limits.headersTimeoutMs);
    socket.once("close", () => {
      clearTimeout(slow);
      undecided.delete(socket);
      sockets.delete(socket);
    });
    sniffProtocol(socket, (protocol) => {
      clearTimeout(slow);
      undecided.delete(socket);
      // The socket was refused for being slow before it sent data.
      if (socket.writableEnded) return;
      if (protocol === "h1") {
        closeInStages(socket);
        serveHttp1(socket);
        socket.resume();
      } else {
        // Node's HTTP/1.1 server allows half-open sockets, on which a session would not notice that its client has
        // disconnected.
        socket.allowHalfOpen = false;
        http2For(streamsOf(socket)).emit("connection", socket);
      }
    });
  }

  function onConnect({ socket }: IncomingMessage): void {
    endInOrder(socket, unfinishedOf(socket), noProxy);
  }

  function onUnknownExpectation(_request: HttpRequest, response: HttpResponse): void {
    answerError(response, unknownExpectation);
  }

  function onSession(session: ServerHttp2Session): void {
    sessions.add(session);
    options.onSession?.(session);
    if (closing !== undefined) session.once("stream", () => session.close());
    const silent = setTimeout(() => session.close(), limits.headersTimeoutMs);
    session.once("stream", () => clearTimeout(silent));
    session.once("close", () => {
      clearTimeout(silent);
      sessions.delete(session);
    });
    session.setTimeout(limits.keepAliveTimeoutMs);
    session.on("timeout", () => {
      if (!isBusy(session, streams)) session.close();
    });
  }

  function unfinishedOf(socket: Socket): ReadonlySet<ServerResponse> {
    return sockets.get(socket) ?? new Set();
  }

  function onHttp1Request(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const unfinished = unfinishedOf(socket);
    if (isClosing(socket) || isEnding(socket)) return;
    if (hasLast(unfinished)) {
      endInOrder(socket, unfinished);
      return;
    }
    if (unfinished.size >= maxPipelined) {
      endInOrder(socket, unfinished, tooManyPipelined(maxPipelined));
      return;
    }
    if (closing !== undefined) response.shouldKeepAlive = false;
    const unsafe = findUnsafe(unfinished);
    sockets.get(socket)?.add(response);
    // Node emits the error of a request whose connection breaks if somebody listened when it broke. Handlers may stop listening before
    // it is emitted: connect-node does when the response closes. An error for nobody would end the process.
    request.on("error", ignore);
    // Emitted once. `once` would wrap each listener, which takes longer than most of them.
    response.on("close", onHttp1End);
    if (unsafe === undefined) serve(request, response);
    // A pipelined request may rely on what the one before it changes.
    else {
      onceEnded(unsafe, () => {
        const isBroken = isEnding(socket) && !request.complete;
        if (!isClosing(socket) && !isBroken) serve(request, response);
      });
    }
  }

  function onInputEnd(this: Socket): void {
    const [waiting] = sockets.get(this) ?? [];
    if (waiting !== undefined) probeClient(waiting);
  }

  function onHttp1End(this: ServerResponse): void {
    sockets.get(this.req.socket)?.delete(this);
    if (closing !== undefined) closeIdleHttp1();
  }

  function onHttp2Request(request: Http2ServerRequest, response: Http2ServerResponse): void {
    const { stream } = response;
    // The stream was reset after the request was read, as in a rapid reset attack. Node closes such a session after about a
    // thousand resets.
    if (stream.closed) return;
    streams.add(stream);
    stream.on("close", onHttp2End);
    serve(request, response);
  }

  function onHttp2End(this: ServerHttp2Stream): void {
    streams.delete(this);
  }

  /** Ends answers that their clients do not read. */
  function cutUnread(): void {
    const now = performance.now();
    for (const stream of streams) {
      if (isLeftOpen(stream)) stream.destroy();
      else if (isOverdue(stream, now)) stream.close(constants.NGHTTP2_CANCEL);
    }
    for (const [socket, responses] of sockets) {
      for (const response of responses) if (isOverdue(response, now)) socket.destroy();
    }
  }

  function serve(request: HttpRequest, response: HttpResponse): void {
    toOriginForm(request);
    const problem = problemOf(request);
    if (problem !== undefined) return refuseHead(response, problem);
    try {
      const served = handler(request, response);
      if (served !== undefined) served.catch((error: unknown) => fail(response, error));
    } catch (error) {
      fail(response, error);
    }
  }

  function fail(response: HttpResponse, error: unknown): void {
    onError(error);
    if (!response.headersSent) answerError(response, internalError);
    else if (isHttp2(response)) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    else response.destroy();
  }

  function onClientError(error: NodeJS.ErrnoException, socket: Socket): void {
    const refusal = refusalOf(error);
    // What follows a request that closes the connection is not looked at (RFC 9112, 9.6).
    if (error.code === "HPE_CLOSED_CONNECTION") endInOrder(socket, unfinishedOf(socket));
    else if (refusal === undefined) socket.destroy();
    else endInOrder(socket, unfinishedOf(socket), refusal);
  }

  /**
   * Destroys idle connections. Node also counts a connection as idle if its response has ended but is not fully sent, and would
   * cut that off. So this does nothing while there is such a response; its "close" event calls this again.
   */
  function closeIdleHttp1(): void {
    for (const responses of sockets.values()) for (const response of responses) if (response.writableEnded) return;
    http1.closeIdleConnections();
  }

  /** Closes what has connected before the listener closed, and has asked for nothing since. */
  function closeSilent(): void {
    for (const socket of undecided) socket.destroy();
    for (const session of sessions) session.close();
  }

  async function drain(graceMs: number): Promise<void> {
    for (const responses of sockets.values()) {
      const last = [...responses].at(-1);
      // Sends `Connection: close`.
      if (last?.headersSent === false) last.shouldKeepAlive = false;
    }
    // The system has connections that wait for this process, and would reset them once it does not listen. They are accepted first.
    await nextPoll();
    // Not http1.close(), which would cut off responses as described above and stop the timers of requests that are still
    // arriving.
    const closed = new Promise<void>((resolve) => void NetServer.prototype.close.call(http1, () => resolve()));
    const silent = setTimeout(closeSilent, Math.min(graceMs, firstRequestMs));
    closeIdleHttp1();
    for (const session of sessions) session.close();
    const grace = setTimeout(() => {
      for (const socket of sockets.keys()) socket.destroy();
    }, graceMs);
    await closed;
    clearTimeout(silent);
    clearTimeout(grace);
    clearInterval(cutting);
    http1.close();
  }

  return {
    listen: (port, host) => listenOn(http1, { port, host, settings: options.settings, onError }),
    close: (graceMs) => (closing ??= drain(graceMs)),
    openExchanges: () => ({
      h1: { connections: sockets.size - undecided.size - sessions.size, requests: countAll(sockets.values()) },
      h2: { connections: sessions.size, requests: streams.size },
    }),
  };
}

/** So long may what connected last take to ask for something, while the listener closes. Proxies connect to send a request at once. */
const firstRequestMs = 500;

/** Resolves after connections that wait were accepted. The first turn may have looked for them before this is called. */
const nextPoll = (): Promise<void> => new Promise((resolve) => void setImmediate(() => setImmediate(resolve)));

function isBusy(session: ServerHttp2Session, streams: ReadonlySet<ServerHttp2Stream>): boolean {
  for (const stream of streams) if (stream.session === session) return true;
  return false;
}

function countAll(sets: Iterable<ReadonlySet<unknown>>): number {
  let count = 0;
  for (const { size } of sets) count += size;
  return count;
}

/** Returns the last unfinished response to a method that may change something. */
function findUnsafe(responses: ReadonlySet<ServerResponse>): ServerResponse | undefined {
  let unsafe: ServerResponse | undefined;
  for (const response of responses) {
    if (!response.writableEnded && !safeMethods.has(response.req.method ?? "")) unsafe = response;
  }
  return unsafe;
}

function isClosing(socket: Socket): boolean {
  return socket.writableEnded || socket.destroyed;
}

function hasLast(responses: ReadonlySet<ServerResponse>): boolean {
  for (const { shouldKeepAlive } of responses) if (!shouldKeepAlive) return true;
  return false;
}

/** Requests that wait produce no responses, which would slow down a client that sends ever more of them. */
const maxPipelined = 100;

/** RFC 9110, 9.2.1. */
const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

const cutIntervalMs = ({ reads = readLimits }: ListenerLimits): number => reads.unreadMs / 10;

/** Passes new connections of a server to `accept`. Returns the server's own handler of connections. */
function takeConnections(server: Server, accept: (socket: Socket) => void): (socket: Socket) => void {
  const [serve] = server.listeners("connection") as [(socket: Socket) => void];
  server.off("connection", serve);
  server.on("connection", accept);
  return (socket) => serve.call(server, socket);
}

function ignore(): void {}
