import type { HttpHandler } from "../http/http-messages.ts";
import { answer, answerError, refuseOtherMethods } from "../http/plain-error.ts";
import { requestPathOf } from "../http/request-path.ts";
import { createCounts } from "../scheduling/counts.ts";
import type { MetricsWriter } from "./registry.ts";

const path = "/metrics";

/** Enough for some Prometheus servers, and a person who looks. */
const maxScrapes = 10;

/** Serves `/metrics`, and nothing else. Scrapes that come while the text is written get the same one. */
export function createMetricsPage({ contentType, write }: MetricsWriter): HttpHandler {
  const scrapes = createCounts(maxScrapes);
  const headers = { "Content-Type": contentType, "Cache-Control": "no-store" };
  let writing: Promise<Buffer> | undefined;
  const writeShared = (): Promise<Buffer> =>
    (writing ??= write()
      .then((text) => Buffer.from(text))
      .finally(() => (writing = undefined)));

  return async (request, response) => {
    if (requestPathOf(request.url ?? "") !== path) {
      const message = `Nothing but ${path} is served at this address.`;
      return answerError(response, { code: 404, status: "NOT_FOUND", reason: "PAGE_NOT_FOUND", message });
    }
    if (refuseOtherMethods(request, response, path)) return undefined;
    if (!scrapes.add(path)) return answerError(response, tooMany);
    response.on("close", () => scrapes.remove(path));
    const body = await writeShared();
    answer(response, 200, { ...headers, "Content-Length": String(body.length) }, body);
    return undefined;
  };
}

const tooMany = {
  code: 429,
  status: "RESOURCE_EXHAUSTED",
  reason: "RATE_LIMITED",
  message: `${maxScrapes} scrapes are being answered; try again in 1 s.`,
  headers: { "Retry-After": "1" },
} as const;
