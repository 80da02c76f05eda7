import { type HttpResponse, isHttp2 } from "./handler.ts";

/** A failure that is answered outside of any API method: on the socket itself, or on a page such as `/readyz`. */
export interface PlainError {
  /** The HTTP status. */
  readonly code: number;
  /** The name of the `google.rpc.Code`. */
  readonly status: string;
  /** `ErrorInfo.reason` */
  readonly reason: string;
  readonly message: string;
  /** `ErrorInfo.metadata` */
  readonly metadata?: Readonly<Record<string, string>>;
  /** More response headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

const domain = "iam.tenantry.dev";

/** The body of AIP-193. */
export function errorBody({ code, status, reason, message, metadata }: PlainError): string {
  const info = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain, ...(metadata && { metadata }) };
  return JSON.stringify({ error: { code, status, message, details: [info] } });
}

/** Answers the whole response, which must not have begun. */
export function answerError(response: HttpResponse, error: PlainError): void {
  answerJson(response, error.code, errorBody(error), error.headers);
}

/** Answers the whole response, which must not have begun. Node leaves the body out when it answers a HEAD. */
export function answerJson(
  response: HttpResponse,
  code: number,
  body: string,
  headers?: Readonly<Record<string, string>>,
): void {
  const all = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body), ...headers };
  // The two overloads cannot be called through their union.
  if (isHttp2(response)) response.writeHead(code, all);
  else response.writeHead(code, all);
  response.end(body);
}
