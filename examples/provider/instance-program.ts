// What runs in an instance: a web server that returns the limits of its process. Ends when its provider does.
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { availableParallelism } from "node:os";
import { getHeapStatistics } from "node:v8";

const host = "127.0.0.1";
const [id, port] = process.argv.slice(2);

const server = createServer((_request, response) => {
  const limits = { cpu_cores: availableParallelism(), heap_bytes: getHeapStatistics().heap_size_limit };
  response
    .setHeader("content-type", "application/json")
    .end(`${JSON.stringify({ id, pid: process.pid, ...limits })}\n`);
});
server.listen(Number(port), host, () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit());
// Ctrl-C in a terminal reaches every process; the provider decides when an instance ends.
process.on("SIGINT", () => undefined);
