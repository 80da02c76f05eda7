import { ServerResponse } from "node:http";
import { type Logger, symbols } from "pino";
import { type CallRecord, type RecordingHandler, attachRecord } from "./call-record.ts";
import { type HttpHandler, type HttpRequest, type HttpResponse, isHttp2 } from "./http-messages.ts";
import { visible } from "./log-for-people.ts";
import type { LogStream } from "./log-stream.ts";
import { requestIdOf } from "./request-id.ts";
import { requestPathOf } from "./request-path.ts";
import { type BeginTrace, endTrace, handleInTrace } from "./trace-request.ts";

export interface AccessLogOptions {
  readonly logger: Logger;
  /** If `false`, no lines are logged; requests still get ids. */
  readonly enabled: boolean;
  /** Called with each request when its response has ended or the client has disconnected, whether lines are logged or not. */
  readonly onEnd?: OnExchangeEnd | undefined;
  /** Undefined if nothing is traced. */
  readonly beginTrace?: BeginTrace | undefined;
}

/**
 * @param status 499 if the client has disconnected before there was one.
 * @param ms how long it took, in milliseconds.
 */
export type OnExchangeEnd = (request: HttpRequest, record: CallRecord, status: number, ms: number) => void;

/**
 * Sets the id of each request in `x-request-id` of the request and the response, and logs one line when the response has ended
 * or the client has disconnected (`aborted`, with status 499 if no headers were sent). Logs paths without their queries, and no
 * headers or bodies. `bytes` is the size of the body. What is known of a call is in the same line: the method, the code, the address
 * of its client, and who made it with which credential.
 */
export function withAccessLog(
  handler: RecordingHandler,
  { logger, enabled, onEnd, beginTrace }: AccessLogOptions,
): HttpHandler {
  const { stream, timeNow } = partsOf(logger);
  const writeLine = (line: string): void => (stream.collect === undefined ? stream.write(line) : stream.collect(line));

  function endExchange(this: HttpResponse): void {
    const exchange = (this as unknown as Observed)[exchangeKey];
    const status = this.headersSent ? this.statusCode : 499;
    const ms = performance.now() - exchange.startedAt;
    onEnd?.(exchange.request, exchange.record, status, ms);
    if (beginTrace !== undefined) endTrace(exchange.request, exchange.record, status, exchange.requestId);
    if (enabled) logExchange(this, exchange, status, ms);
  }

  /** Writes a line in the form of the logger, in a third of the logger's time. */
  function logExchange(response: HttpResponse, exchange: Exchange, status: number, ms: number): void {
    const { request, requestId, record, bytes } = exchange;
    // Over gRPC, the status is always 200.
    const isFailure = (status === 200 ? (record.failure?.http ?? status) : status) >= 500;
    const level = isFailure ? "warn" : "info";
    if (!logger.isLevelEnabled(level)) return;
    // JSON leaves the control characters from U+007F on as they are, which come over HTTP/2.
    const path = visible(JSON.stringify(cut(requestPathOf(request.url ?? ""))));
    const durationMs = Math.round(ms * 1000) / 1000;
    writeLine(
      `{"level":${logger.levels.values[level]}${timeNow()},"requestId":"${requestId}","method":${JSON.stringify(request.method)},` +
        `"path":${path},"status":${status},"durationMs":${durationMs},"protocol":"${isHttp2(response) ? "h2" : "h1"}",` +
        `"bytes":${request.method === "HEAD" ? 0 : bytes},${describeCall(record, status)}${describeTrace(record)}` +
        `${isComplete(response) ? "" : '"aborted":true,'}"msg":"request"}\n`,
    );
  }

  return (request, response) => {
    const requestId = requestIdOf(request.headers);
    // Later handlers read the id from here.
    request.headers[idHeader] = requestId;
    addId(response, requestId);
    const record: CallRecord = {};
    attachRecord(request, record);
    if (enabled || onEnd !== undefined || beginTrace !== undefined) {
      observe(request, requestId, response, record, enabled);
      response.on("close", endExchange);
    }
    if (beginTrace === undefined) return handler(request, response, record);
    return handleInTrace(request, record, beginTrace(request), () => handler(request, response, record));
  };
}

/** Longer paths are nobody's but those of who looks for something to break. */
const maxPath = 1_024;

function cut(path: string): string {
  return path.length <= maxPath ? path : `${path.slice(0, maxPath)}... (${path.length} characters)`;
}

/** Returns the fields of a line that lead to its trace, by the names that most log stores look for. */
function describeTrace({ trace }: CallRecord): string {
  if (trace === undefined) return "";
  const ofSpan = trace.span === undefined ? "" : `"span_id":"${trace.span.spanId}",`;
  return `"trace_id":"${trace.traceId}",${ofSpan}`;
}

/**
 * Returns the fields of a line that say what was called by whom, each with a comma after it. A caller is shown by a path that the API takes.
 * Of a response that is refused before it is answered as a call, the status says enough.
 */
function describeCall({ address, method, failure, caller }: CallRecord, status: number): string {
  let fields = address === undefined ? "" : `"address":${JSON.stringify(address)},`;
  if (method !== undefined) {
    fields += `"rpc":"${method.parent.typeName}/${method.name}",`;
    if (failure !== undefined) fields += `"code":"${failure.name}",`;
    else if (status < 400) fields += '"code":"OK",';
  }
  if (caller === undefined) return fields;
  const { orgId, memberId, credentialId, impersonator } = caller;
  fields += `"caller":"/orgs/@${orgId}/members/@${memberId}","credential":"${credentialId}",`;
  return impersonator === undefined
    ? fields
    : `${fields}"impersonator":"/orgs/@${orgId}/members/@${impersonator.memberId}",`;
}

/** Returns where a logger writes to, and how it writes the time: `,"time":"2026-01-31T12:00:00.000Z"`. */
function partsOf(logger: Logger): {
  readonly stream: Pick<LogStream, "write"> & Partial<LogStream>;
  readonly timeNow: () => string;
} {
  const parts = logger as unknown as Record<symbol, never>;
  return { stream: parts[symbols.streamSym] as never, timeNow: parts[symbols.timeSym] as never };
}

function isComplete(response: HttpResponse): boolean {
  // A reset HTTP/2 stream counts as finished, too.
  return isHttp2(response) ? response.writableEnded && response.stream.rstCode === 0 : response.writableFinished;
}

const idHeader = "x-request-id";

/**
 * Adds the id of a request to the head of its response. Over HTTP/1.1 it is added when the head is written: once a header is set, Node
 * also sets all others one by one, which takes twice as long.
 */
function addId(response: HttpResponse, requestId: string): void {
  if (isHttp2(response)) {
    response.setHeader(idHeader, requestId);
    return;
  }
  const identified = response as unknown as Identified;
  identified[idKey] = requestId;
  identified.writeHead = writeHeadWithId;
}

const idKey = Symbol("request id");

interface Identified extends ServerResponse {
  [idKey]: string;
}

function writeHeadWithId(this: Identified, status: number, ...rest: readonly unknown[]): Identified {
  const [headers] = rest;
  const hasHeaders = this.getHeaderNames().length > 0;
  if (hasHeaders || typeof headers !== "object" || headers === null || Array.isArray(headers)) {
    this.setHeader(idHeader, this[idKey]);
    return writeHead.call(this, status, ...rest);
  }
  return writeHead.call(this, status, { ...headers, [idHeader]: this[idKey] });
}

const { writeHead } = ServerResponse.prototype as unknown as {
  readonly writeHead: (this: Identified, ...head: unknown[]) => Identified;
};

type Write = (chunk?: unknown, encoding?: unknown, callback?: unknown) => unknown;

/** The data of a log line, and the response's original functions. */
interface Exchange {
  readonly request: HttpRequest;
  readonly requestId: string;
  readonly startedAt: number;
  readonly record: CallRecord;
  readonly write: Write;
  readonly end: Write;
  bytes: number;
}

const exchangeKey = Symbol("exchange");

/** A response with its exchange as a property, so that no closures are created per request. */
interface Observed {
  [exchangeKey]: Exchange;
  write: Write;
  end: Write;
}

/** @param counts whether to count the bytes of the body. */
function observe(
  request: HttpRequest,
  requestId: string,
  response: HttpResponse,
  record: CallRecord,
  counts: boolean,
): void {
  const observed = response as unknown as Observed;
  const { write, end } = observed;
  observed[exchangeKey] = { request, requestId, startedAt: performance.now(), record, write, end, bytes: 0 };
  if (!counts) return;
  observed.write = countedWrite;
  // The end() of HTTP/2 calls write().
  if (!isHttp2(response)) observed.end = countedEnd;
}

function countedWrite(this: Observed, chunk?: unknown, encoding?: unknown, callback?: unknown): unknown {
  const exchange = this[exchangeKey];
  exchange.bytes += sizeOf(chunk, encoding);
  return exchange.write.call(this, chunk, encoding, callback);
}

function countedEnd(this: Observed, chunk?: unknown, encoding?: unknown, callback?: unknown): unknown {
  const exchange = this[exchangeKey];
  exchange.bytes += sizeOf(chunk, encoding);
  return exchange.end.call(this, chunk, encoding, callback);
}

function sizeOf(chunk: unknown, encoding: unknown): number {
  if (chunk instanceof Uint8Array) return chunk.byteLength;
  if (typeof chunk !== "string") return 0;
  return Buffer.byteLength(chunk, typeof encoding === "string" && Buffer.isEncoding(encoding) ? encoding : "utf8");
}
