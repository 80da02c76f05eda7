import Negotiator from "negotiator";
import type { HttpRequest, HttpResponse } from "./http-messages.ts";
import { answer } from "./plain-error.ts";
import type { ServedFile } from "./served-file.ts";

/** For a file of which another version may have the same URL. */
export const revalidated = "no-cache";
/** For a URL that has the digest of its file in it. */
export const unchanging = "public, max-age=31536000, immutable";

/** Answers a GET or HEAD with a file, in a coding that the client accepts, or with 304 if the client has it already. */
export function answerFile(
  { type, plain, coded, digest }: ServedFile,
  headers: Readonly<Record<string, string>>,
  request: HttpRequest,
  response: HttpResponse,
): void {
  // The response may also vary by Origin.
  const vary = [response.getHeader("vary"), "Accept-Encoding"].filter((name) => name !== undefined).join(", ");
  // A weak validator, because the compressed forms have the same ETag.
  const etag = `"${digest()}"`;
  const cached = { ...headers, ETag: `W/${etag}`, Vary: vary };
  const known = request.headers["if-none-match"];
  if (known !== undefined && (known.trim() === "*" || known.includes(etag))) {
    answer(response, 304, cached);
    return;
  }
  const [coding, read] = chooseCoding(coded, request) ?? [undefined, plain];
  const body = read();
  const described = { "Content-Type": type, "Content-Length": String(body.length) };
  answer(response, 200, { ...cached, ...(coding && { "Content-Encoding": coding }), ...described }, body);
}

/** Returns the best coding that the client accepts. Browsers list them in another order. */
function chooseCoding(coded: ServedFile["coded"], { headers }: HttpRequest): [string, () => Buffer] | undefined {
  const accepted = { headers: { "accept-encoding": headers["accept-encoding"] ?? "identity" } };
  const codings = new Negotiator(accepted).encodings(Object.keys(coded));
  return Object.entries(coded).find(([coding]) => codings.includes(coding));
}
