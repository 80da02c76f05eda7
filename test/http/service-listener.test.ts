// Tests what the listener of the service does while the server is being stopped and still answers.
import { once } from "node:events";
import { Agent, type IncomingMessage, get } from "node:http";
import pino from "pino";
import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../src/config.ts";
import { createServiceListener } from "../../src/service-listener.ts";
import { callHttp2, openHttp2 } from "./http2-client.ts";

test("while it drains, it answers, and closes connections of HTTP/1.1 with their next answer", async () => {
  const listener = createServiceListener({ ...readConfig({}), port: 0 }, pino({ enabled: false }));
  onTestFinished(() => listener.close(0));
  listener.serve((_request, response) => void response.end("answered"));
  const { url } = await listener.open();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const ask = async () => {
    const request = get(url, { agent });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    await response.resume().toArray();
    return [request.reusedSocket, response.statusCode, response.headers.connection];
  };
  const session = await openHttp2(url);
  onTestFinished(() => session.destroy());

  expect(await ask()).toEqual([false, 200, "keep-alive"]);
  expect(await ask()).toEqual([true, 200, "keep-alive"]);
  await listener.drain(0);
  expect(await ask()).toEqual([true, 200, "close"]);
  expect(await ask()).toEqual([false, 200, "close"]);
  for (let count = 0; count < 2; count++) expect((await callHttp2(session, { ":path": "/" })).status).toBe(200);
});
