import type { HttpRequest } from "../../http/http-messages.ts";
import { readParameters } from "./read-parameters.ts";
import { OAuthError } from "./oauth-error.ts";

/** The parameters of a request. Each is given once. */
export type Form = ReadonlyMap<string, string>;

const maxBytes = 16_384;
const firstBytes = 512;

/**
 * Reads the body of a request (RFC 6749, 3.2). Parameters in the URL are refused, because URLs are logged.
 *
 * @throws OAuthError invalid_request
 */
export async function readForm(request: HttpRequest): Promise<Form> {
  const body = await readBody(request, "application/x-www-form-urlencoded");
  const form = new Map<string, string>();
  for (const [name, value] of readParameters(body.toString())) {
    if (form.has(name)) throw invalid(`the parameter ${JSON.stringify(name.slice(0, 64))} is given twice`);
    // A parameter without a value counts as absent.
    if (value !== "") form.set(name, value);
  }
  return form;
}

/** @throws OAuthError invalid_request when the parameter is absent. */
export function requiredParameter(form: Form, name: string): string {
  const value = form.get(name);
  if (value === undefined) throw invalid(`the parameter ${name} is required`);
  return value;
}

/** Reads the body of a request as a JSON object. @throws OAuthError invalid_request */
export async function readJson(request: HttpRequest): Promise<Readonly<Record<string, unknown>>> {
  const body = await readBody(request, "application/json");
  try {
    const value: unknown = JSON.parse(body.toString());
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Described below.
  }
  throw invalid("the body must be a JSON object");
}

function readBody(request: HttpRequest, mediaType: string): Promise<Buffer> {
  if ((request.url ?? "").includes("?")) throw invalid("parameters must be in the body, not in the URL");
  const given = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (given !== mediaType) throw invalid(`the Content-Type must be ${mediaType}`);
  // One buffer: a body may come byte by byte, and each Buffer has an overhead of some hundred bytes.
  let body = Buffer.allocUnsafe(firstBytes);
  let length = 0;
  return new Promise((resolve, reject) => {
    request.on("data", (piece: Buffer) => {
      const end = length + piece.length;
      if (end > maxBytes) {
        reject(invalid(`the body must be at most ${maxBytes} bytes long`));
        return;
      }
      if (end > body.length) body = Buffer.concat([body], Math.max(end, 2 * body.length));
      piece.copy(body, length);
      length = end;
    });
    request.on("end", () => {
      // Over HTTP/2, "end" is also emitted when the stream is reset with NO_ERROR.
      if (!request.aborted) resolve(body.subarray(0, length));
    });
    // A client that disconnects is no failure of the service.
    request.on("error", () => undefined);
    request.on("close", () => reject(invalid("the body ended early")));
  });
}

function invalid(description: string): OAuthError {
  return new OAuthError("invalid_request", description);
}
