import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { expect, onTestFinished, test } from "vitest";
import { Health } from "../../../gen/grpc/health/v1/health_pb.ts";
import { closeAfterEarlyAnswer } from "../../../src/http/listener/close-after-early-answer.ts";

// A unary call whose body exceeds the limit of Connect.
const call = "POST /grpc.health.v1.Health/Check HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
const chunk = `2710\r\n${"a".repeat(10_000)}\r\n`;

async function openConnection() {
  const rpc = connectNodeAdapter({
    routes: (router) => void router.service(Health, {}),
    readMaxBytes: 20_000,
    fallback: (_request, response) => void response.end("next"),
  });
  const server = createServer((request, response) => {
    closeAfterEarlyAnswer(request, response);
    rpc(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  onTestFinished(() => {
    socket.destroy();
    server.closeAllConnections();
    server.close();
  });
  const seen = { text: "", ended: false };
  socket.on("data", (data) => (seen.text += data.toString()));
  socket.on("close", () => (seen.ended = true));
  // Data that is cut while it is being sent causes a reset.
  socket.on("error", () => {});
  return { socket, seen };
}

test("closes the connection, as announced, after a response that precedes the body", async () => {
  const { socket, seen } = await openConnection();
  socket.write(`${call}Content-Length: 100000\r\n\r\n`);
  await expect.poll(() => seen.text).toMatch(/^HTTP\/1.1 429 [\s\S]*connection: close\r\n/i);
  await expect.poll(() => seen.ended).toBe(true);
});

test("closes the connection after a response in the middle of the body", async () => {
  const { socket, seen } = await openConnection();
  socket.write(`${call}Transfer-Encoding: chunked\r\n\r\n`);
  for (let count = 0; count < 3; count++) socket.write(chunk);
  await expect.poll(() => seen.text).toMatch(/^HTTP\/1.1 429 [\s\S]*connection: close\r\n/i);
  await expect.poll(() => seen.ended).toBe(true);
});

test("keeps the connection after the response to a complete request", async () => {
  const { socket, seen } = await openConnection();
  socket.write(`${call}Content-Length: 2\r\n\r\n{}GET / HTTP/1.1\r\nHost: a\r\n\r\n`);
  await expect.poll(() => seen.text).toMatch(/^HTTP\/1.1 501 [\s\S]*next$/);
});
