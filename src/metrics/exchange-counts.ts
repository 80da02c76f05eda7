// Counts requests when they have ended: those that are calls by method, protocol and code, and all others by route. The access log notes
// what was called; nobody else knows of this.
import type { DescMethod } from "@bufbuild/protobuf";
import type { OnExchangeEnd } from "../http/access-log.ts";
import type { CallRecord } from "../http/call-record.ts";
import type { HttpRequest } from "../http/http-messages.ts";
import { requestPathOf } from "../http/request-path.ts";
import { type Histogram, callSeconds, createHistogram, observe } from "../measures/histogram.ts";
import type { Labels } from "./family.ts";

/** What came of the requests with these labels. */
export interface ExchangeSeries {
  readonly labels: Labels;
  readonly seconds: Histogram;
  /** By code: `OK`, `200`. */
  readonly codes: Map<string, number>;
}

export interface ExchangeCounts {
  readonly onEnd: OnExchangeEnd;
  readonly calls: () => readonly ExchangeSeries[];
  readonly requests: () => readonly ExchangeSeries[];
}

/** The label of all that is in no table of ours, as OpenTelemetry names it. */
const other = "_OTHER";

/** By the name of a protocol here, its name in OpenTelemetry, which has none for gRPC-Web and REST. */
const protocols: Readonly<Record<string, string>> = {
  rest: "rest",
  connect: "connectrpc",
  grpc: "grpc",
  "grpc-web": "grpc-web",
};

const verbs = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/**
 * @param methods all that can be called.
 * @param restPrefixes with which the paths of calls over REST begin.
 * @param routes all that is served beside calls.
 * @param routeOf returns the route of a path; undefined if none of ours is there.
 */
export function createExchangeCounts(
  methods: readonly DescMethod[],
  restPrefixes: readonly string[],
  routes: readonly string[],
  routeOf: (path: string) => string | undefined,
): ExchangeCounts {
  const calls = createSeriesTable(methods, Object.keys(protocols), (method, protocol = other) => ({
    rpc_system_name: protocols[protocol] ?? other,
    rpc_method: method === undefined ? other : `${method.parent.typeName}/${method.name}`,
  }));
  const requests = createSeriesTable(routes, verbs, (route = other, verb = other) => ({
    http_route: route,
    http_request_method: verb,
  }));

  /** Returns the protocol of a request that has reached no method; undefined if it is no call. */
  const protocolOf = ({ headers, url = "" }: HttpRequest): string | undefined => {
    if (restPrefixes.some((prefix) => url.startsWith(prefix))) return "rest";
    const [, protocol] = protocolsOfTypes.find(([pattern]) => pattern.test(headers["content-type"] ?? "")) ?? [];
    return protocol ?? (headers["connect-protocol-version"] === undefined ? undefined : "connect");
  };

  return {
    onEnd(request, record, status, ms) {
      const protocol = record.protocol ?? protocolOf(request);
      if (protocol !== undefined) count(calls.of(record.method, protocol), codeOf(record, status), ms);
      else {
        const route = routeOf(requestPathOf(request.url ?? ""));
        count(requests.of(route, request.method ?? other), String(status), ms);
      }
    },
    calls: calls.all,
    requests: requests.all,
  };
}

/**
 * Creates the series of two keys when they are first counted. Keys that are not among the given ones share a series, so that there are
 * never more than the product of both, and one more of each.
 */
function createSeriesTable<Row>(
  rows: readonly Row[],
  columns: readonly string[],
  labelsOf: (row: Row | undefined, column: string | undefined) => Labels,
) {
  const others = new Map<string, ExchangeSeries>();
  const table = new Map<Row | undefined, Map<string, ExchangeSeries>>(rows.map((row) => [row, new Map()]));
  const add = (row: Row | undefined, column: string): ExchangeSeries => {
    const ofRow = table.get(row);
    const isKnown = columns.includes(column);
    const key = isKnown ? column : other;
    const series = (ofRow ?? others).get(key) ?? {
      labels: labelsOf(ofRow && row, isKnown ? column : undefined),
      seconds: createHistogram(callSeconds),
      codes: new Map(),
    };
    (ofRow ?? others).set(key, series);
    return series;
  };
  return {
    of: (row: Row | undefined, column: string): ExchangeSeries =>
      (table.get(row) ?? others).get(column) ?? add(row, column),
    all: (): ExchangeSeries[] => [...table.values(), others].flatMap((ofRow) => [...ofRow.values()]),
  };
}

function count({ seconds, codes }: ExchangeSeries, code: string, ms: number): void {
  observe(seconds, ms / 1_000);
  codes.set(code, (codes.get(code) ?? 0) + 1);
}

const protocolsOfTypes: readonly (readonly [RegExp, string])[] = [
  [/^application\/grpc-web\b/, "grpc-web"],
  [/^application\/grpc\b/, "grpc"],
  [/^application\/(?:proto|connect\+)/, "connect"],
];

/** Codes of calls that were answered by status alone, such as by the limits of addresses. */
const codesOfStatuses: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  404: "UNIMPLEMENTED",
  405: "UNIMPLEMENTED",
  429: "RESOURCE_EXHAUSTED",
  499: "CANCELLED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
};

function codeOf({ failure }: CallRecord, status: number): string {
  if (failure !== undefined) return failure.name;
  return status < 400 ? "OK" : (codesOfStatuses[status] ?? "UNKNOWN");
}
