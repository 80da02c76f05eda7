// The baseline of the benchmarks: node:http with prepared response bodies.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** The parent process sends the bodies, so that both servers send the same bytes. */
process.once("message", (bodies: Record<string, string>) => {
  const answers = new Map(Object.entries(bodies).map(([path, body]) => [path, Buffer.from(body)]));
  const server = createServer((request, response) => {
    const body = answers.get(request.url ?? "") ?? Buffer.alloc(0);
    response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
    response.end(body);
  });
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
});
