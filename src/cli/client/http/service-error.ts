// Makes errors of what the service answers (AIP-193).
import { CommandError, type ExitCode, exitCodes } from "../command-error.ts";

/** An error of the service, with what it says about it. */
export class ServiceCallError extends CommandError {
  /** The HTTP status. */
  readonly status: number;
  /** The fields that it refuses, as the request has them, with the rules. */
  readonly violations: readonly { readonly field: string; readonly description: string }[];
  readonly metadata: Readonly<Record<string, string>>;
  /** How long to wait before a retry, in milliseconds; undefined if the service does not say. */
  readonly retryAfterMs: number | undefined;

  constructor(response: Response, text: string) {
    const body = parseError(text);
    const { status } = response;
    const info = detailOf(body, "ErrorInfo");
    const reason = stringOf(info?.["reason"]) ?? stringOf(body?.["status"]) ?? `HTTP_${status}`;
    const message = stringOf(body?.["message"]) ?? describeOther(response);
    super(message, { exitCode: exitCodeOf(status, body), reason, body: body && { error: body } });
    this.status = status;
    this.violations = violationsOf(detailOf(body, "BadRequest"));
    this.metadata = Object.fromEntries(
      Object.entries(recordOf(info?.["metadata"]) ?? {}).map(([key, value]) => [key, String(value)]),
    );
    const seconds = response.headers.get("retry-after");
    this.retryAfterMs = seconds !== null && /^\d{1,6}$/.test(seconds) ? Number(seconds) * 1_000 : undefined;
  }
}

function exitCodeOf(status: number, body: Json | undefined): ExitCode {
  // A wrong question is told apart from an answer of no.
  if (body?.["status"] === "INVALID_ARGUMENT") return exitCodes.usage;
  if (status === 401 || status === 403) return exitCodes.denied;
  if (status === 404) return exitCodes.notFound;
  if (status === 429 || status === 503 || status === 504) return exitCodes.tryAgain;
  return exitCodes.refused;
}

function describeOther({ status, url, headers }: Response): string {
  const to = headers.get("location");
  if (status >= 300 && status < 400) {
    return `${new URL(url).origin} answers ${status} and names ${to ?? "no address"}: redirects are not followed, so that nobody else gets the credential`;
  }
  return `${new URL(url).origin} answers ${status}, and not as Tenantry does`;
}

type Json = Readonly<Record<string, unknown>>;

function parseError(text: string): Json | undefined {
  try {
    return recordOf(recordOf(JSON.parse(text))?.["error"]);
  } catch {
    return undefined;
  }
}

function detailOf(error: Json | undefined, type: string): Json | undefined {
  const details = error?.["details"];
  if (!Array.isArray(details)) return undefined;
  return details.map(recordOf).find((each) => stringOf(each?.["@type"])?.endsWith(`google.rpc.${type}`));
}

function violationsOf(detail: Json | undefined): ServiceCallError["violations"] {
  const list = detail?.["field_violations"] ?? detail?.["fieldViolations"];
  if (!Array.isArray(list)) return [];
  return list.map((each) => {
    const violation = recordOf(each);
    return { field: stringOf(violation?.["field"]) ?? "", description: stringOf(violation?.["description"]) ?? "" };
  });
}

export function recordOf(value: unknown): Json | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
