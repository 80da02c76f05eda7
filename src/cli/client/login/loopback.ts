// The end of a sign-in in the browser: the service sends it to a port of this machine with a code (RFC 8252, 7.3).
import { randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { CommandError, exitCodes } from "../command-error.ts";

export interface LoopbackServer {
  readonly redirectUri: string;
  /** What the service must bring back, so that nobody else ends the sign-in. */
  readonly state: string;
  /** Returns the code. @throws CommandError if the person or the service said no. */
  readonly code: Promise<string>;
  readonly close: () => void;
}

const path = "/callback";

/**
 * @param issuer who must have sent the code (RFC 9207).
 * @param signal aborted when nobody waits any more.
 */
export async function listenForCode(issuer: string, signal: AbortSignal): Promise<LoopbackServer> {
  const state = randomBytes(32).toString("base64url");
  // Other commands start in half of the time without it.
  const { createServer } = await import("node:http");
  const server = createServer({ maxHeaderSize: 16_384 });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const code = new Promise<string>((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    server.on("request", (request, response) => {
      // Any page can send a browser here. Without the state it is not the answer, and the wait goes on.
      const query = readCallback(request, host, state);
      if (query === undefined)
        return answer(response, 404, "This is not the end of a sign-in that tenantry has begun.");
      const problem = findProblem(query, issuer);
      if (problem !== undefined) {
        response.once("close", () => reject(problem));
        return answer(response, 400, "You are not signed in. The terminal says why.");
      }
      response.once("close", () => resolve(query.get("code") ?? ""));
      return answer(response, 200, "You are signed in, and can close this page.");
    });
  });
  // It is awaited only once the browser was opened.
  code.catch(() => undefined);
  return {
    redirectUri: `http://${host}${path}`,
    state,
    code,
    close() {
      server.close();
      // The answer was sent. A browser keeps connections that it opened ahead of need.
      server.closeAllConnections();
    },
  };
}

function readCallback(
  { method, url = "", headers }: IncomingMessage,
  host: string,
  state: string,
): URLSearchParams | undefined {
  // A page of another site may have a name that leads to this machine.
  if (method !== "GET" || headers.host !== host || !URL.canParse(url, `http://${host}`)) return undefined;
  const { pathname, searchParams } = new URL(url, `http://${host}`);
  const given = Buffer.from(searchParams.get("state") ?? "");
  const isOurs = given.length === state.length && timingSafeEqual(given, Buffer.from(state));
  return pathname === path && isOurs ? searchParams : undefined;
}

function findProblem(query: URLSearchParams, issuer: string): CommandError | undefined {
  const refused = (message: string): CommandError =>
    new CommandError(message, { exitCode: exitCodes.denied, reason: "NOT_SIGNED_IN" });
  const from = query.get("iss");
  if (from !== issuer) return refused(`the answer is from ${from ?? "nobody"}, and not from ${issuer}`);
  const error = query.get("error");
  if (error !== null) return refused(query.get("error_description") ?? error);
  return query.has("code") ? undefined : refused("the answer has no code");
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    connection: "close",
  });
  response.end(`<!doctype html><title>Tenantry</title><p>${text}</p>\n`);
}
