// A server in its own process. The first message selects the kind of server; the reply is its port.
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { createRestHandler } from "../../src/rest/rest-handler.ts";
import { recordRoutes } from "./records.ts";
import type { ServerKind } from "./start-record-server.ts";

process.once("message", (kind: ServerKind) => {
  const server = createServer(listenerOf(kind));
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
});

function listenerOf(kind: ServerKind): RequestListener {
  if (kind.name === "transcoder") return createRestHandler({ routes: recordRoutes });
  return kind.name === "bare" ? answerWith(Buffer.from(kind.answer)) : connectNodeAdapter({ routes: recordRoutes });
}

/** Reads the request body, if there is one, and sends prepared bytes. */
function answerWith(answer: Buffer): RequestListener {
  return (request, response) => {
    const send = (): void => {
      response.writeHead(200, { "content-type": "application/json", "content-length": answer.length });
      response.end(answer);
    };
    if (request.method === "GET") {
      send();
      return;
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      Buffer.concat(chunks);
      send();
    });
  };
}
