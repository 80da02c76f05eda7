// A provider for tests that kill it: claims operations with short leases and completes them. Errors do not stop it: what it
// could not complete is claimed again.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { ProviderService } from "../../gen/resources/v1alpha/provider_pb.ts";

const [url = "", key = "", servicePath = ""] = process.argv.slice(2);
const transport = createConnectTransport({
  baseUrl: url,
  httpVersion: "1.1",
  interceptors: [
    (next) => (request) => {
      request.header.set("authorization", `Bearer ${key}`);
      return next(request);
    },
  ],
});
const provider = createClient(ProviderService, transport);

for (;;) {
  try {
    const { claims } = await provider.claimOperations({
      servicePath,
      maxOperations: 2,
      claimDuration: { seconds: 1n },
      wait: { seconds: 2n },
    });
    for (const { operation, claimToken } of claims) {
      await sleep(Math.random() * 50);
      const requestId = randomUUID();
      await provider.completeOperation({ servicePath, operationPath: operation?.path ?? "", claimToken, requestId });
    }
  } catch {
    await sleep(50);
  }
}
