import { type HttpRequest, type HttpResponse, isHttp2 } from "./http-messages.ts";

/** Why a request failed outside of API methods: the `reason` of `google.rpc.ErrorInfo`. The set is closed and part of the API. */
export type PlainErrorReason =
  | "METHOD_NOT_SUPPORTED"
  | "PAGE_NOT_FOUND"
  | "NOT_READY"
  | "EXPECTATION_UNKNOWN"
  | "REQUEST_HEADERS_TOO_LARGE"
  | "CHUNK_EXTENSIONS_TOO_LARGE"
  | "REQUEST_TIMEOUT"
  | "REQUEST_MALFORMED"
  | "INTERNAL";

/** An error that is sent outside of API methods: on the socket itself, or on a page such as `/readyz`. */
export interface PlainError {
  /** The HTTP status code. */
  readonly code: number;
  /** The name of the `google.rpc.Code`. */
  readonly status: string;
  /** `ErrorInfo.reason` */
  readonly reason: PlainErrorReason;
  readonly message: string;
  /** `ErrorInfo.metadata` */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Additional response headers. */
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

/**
 * Refuses other methods than GET and HEAD.
 *
 * @returns whether the request was refused, and its response sent.
 */
export function refuseOtherMethods(
  { method }: HttpRequest,
  response: HttpResponse,
  path: string,
  headers?: PlainError["headers"],
): boolean {
  if (method === "GET" || method === "HEAD") return false;
  answerError(response, {
    code: 405,
    status: "UNIMPLEMENTED",
    reason: "METHOD_NOT_SUPPORTED",
    message: `${path} answers GET and HEAD only.`,
    headers: { ...headers, Allow: "GET, HEAD" },
  });
  return true;
}

/** Sends a complete response, which must not have started. Node omits the body of a response to HEAD. */
export function answerJson(
  response: HttpResponse,
  code: number,
  body: string,
  headers?: Readonly<Record<string, string>>,
): void {
  const all = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body), ...headers };
  // TypeScript cannot call the two overloads through their union.
  if (isHttp2(response)) response.writeHead(code, all);
  else response.writeHead(code, all);
  response.end(body);
}
