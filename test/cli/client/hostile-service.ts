// A service that answers whatever a test wants, at a real socket.
import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface HostileService {
  readonly url: string;
  /** The requests that it got, as `GET /path`, with what they were authorized with. */
  readonly requests: readonly { readonly line: string; readonly authorization: string | undefined }[];
}

export async function startHostileService(
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void,
): Promise<HostileService> {
  const requests: { line: string; authorization: string | undefined }[] = [];
  const server = createServer((request, response) => {
    requests.push({ line: `${request.method} ${request.url}`, authorization: request.headers.authorization });
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => answer(request, response, body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}
