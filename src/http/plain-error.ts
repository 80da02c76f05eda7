import { type HttpRequest, type HttpResponse, isHttp2 } from "./http-messages.ts";

/** Why a request failed outside of API methods: the `reason` of `google.rpc.ErrorInfo`. The set is closed and part of the API. */
export type PlainErrorReason =
  | "METHOD_NOT_SUPPORTED"
  | "PAGE_NOT_FOUND"
  | "NOT_READY"
  | "EXPECTATION_UNKNOWN"
  | "REQUEST_HEADERS_TOO_LARGE"
  | "CHUNK_EXTENSIONS_TOO_LARGE"
  | "HTTP_VERSION_NOT_SUPPORTED"
  | "TRANSFER_CODING_NOT_SUPPORTED"
  | "REQUEST_TIMEOUT"
  | "REQUEST_MALFORMED"
  | "RATE_LIMITED"
  | "INTERNAL";

/** An error that is sent outside of API methods: on the socket itself, or on a page such as `/readyz`. */
export interface PlainError {
  readonly code: number;
  /** The name of the `google.rpc.Code`. */
  readonly status: string;
  /** `ErrorInfo.reason` */
  readonly reason: PlainErrorReason;
  readonly message: string;
  /** `ErrorInfo.metadata` */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

const domain = "iam.tenantry.dev";

/** Returns an error body as in AIP-193. */
export function errorBody({ code, status, reason, message, metadata }: PlainError): string {
  const info = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain, ...(metadata && { metadata }) };
  return JSON.stringify({ error: { code, status, message, details: [info] } });
}

/** Sends a complete response, which must not have started. */
export function answerError(response: HttpResponse, error: PlainError): void {
  answerJson(response, error.code, errorBody(error), error.headers);
}

/** Refuses other methods than GET and HEAD. Answers OPTIONS. @returns whether the response was sent. */
export function refuseOtherMethods(
  request: HttpRequest,
  response: HttpResponse,
  path: string,
  headers?: PlainError["headers"],
): boolean {
  return refuseMethodsBut(["GET", "HEAD"], request, response, path, headers);
}

/** Refuses other methods than those of a path. Answers OPTIONS. @returns whether the response was sent. */
export function refuseMethodsBut(
  methods: readonly string[],
  { method = "" }: HttpRequest,
  response: HttpResponse,
  path: string,
  headers?: PlainError["headers"],
): boolean {
  if (methods.includes(method)) return false;
  const allow = { ...headers, Allow: [...methods, "OPTIONS"].join(", ") };
  if (method === "OPTIONS") {
    answer(response, 204, allow);
    return true;
  }
  answerError(response, {
    code: 405,
    status: "UNIMPLEMENTED",
    reason: "METHOD_NOT_SUPPORTED",
    message: `${path} answers ${methods.join(" and ")} only.`,
    headers: allow,
  });
  return true;
}

/** Sends a complete response with JSON, which must not have started. */
export function answerJson(
  response: HttpResponse,
  code: number,
  body: string,
  headers?: Readonly<Record<string, string>>,
): void {
  const own = { "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(body)) };
  answer(response, code, { ...own, ...headers }, body);
}

/** Sends a complete response, which must not have started. Node omits the body of a response to HEAD. */
export function answer(
  response: HttpResponse,
  code: number,
  headers: Readonly<Record<string, string>>,
  body: string | Buffer = "",
): void {
  // TypeScript cannot call the two overloads through their union.
  if (isHttp2(response)) response.writeHead(code, headers);
  else response.writeHead(code, headers);
  response.end(body);
}
