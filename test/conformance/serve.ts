// The program that the suite starts: reads a ServerCompatRequest from its input, serves the methods of the suite through the
// listener and the handlers of the service, without its callers and its database, and writes the port to its output.
import { create, createRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type ConnectRouter, createContextValues } from "@connectrpc/connect";
import { pino } from "pino";
import { readConfig } from "../../src/config.ts";
import { withAccessLog } from "../../src/http/access-log.ts";
import { withCors } from "../../src/http/cors.ts";
import { createHealth } from "../../src/http/health/health.ts";
import { registerHealth } from "../../src/http/health/health-service.ts";
import type { HttpHandler } from "../../src/http/http-messages.ts";
import { createListener } from "../../src/http/listener/listener.ts";
import { registerReflection } from "../../src/http/reflection/reflection.ts";
import { createRestHandler } from "../../src/rest/rest-handler.ts";
import { createExplainError } from "../../src/rpc/explain-error.ts";
import { createErrorInterceptor } from "../../src/rpc/interceptors.ts";
import { requestIdKey } from "../../src/rpc/request-id-key.ts";
import { createRpcHandler } from "../../src/rpc/rpc-handler.ts";
import {
  ServerCompatRequestSchema,
  ServerCompatResponseSchema,
} from "./gen/connectrpc/conformance/v1/server_compat_pb.ts";
import {
  ConformanceService,
  file_connectrpc_conformance_v1_service,
} from "./gen/connectrpc/conformance/v1/service_pb.ts";
import { conformanceService, timedSinceKey } from "./service.ts";

/** The length before each message. */
const lengthBytes = 4;

const input = await readMessage();
const { messageReceiveLimit } = fromBinary(ServerCompatRequestSchema, input);
const config = readConfig({});
const maxBytes = messageReceiveLimit === 0 ? config.maxBodyBytes : messageReceiveLimit;
const logger = pino({ level: "error" }, pino.destination(process.stderr.fd));
const explain = createExplainError(logger);
const health = createHealth({ checks: {}, checkTimeoutMs: 2_000 });
const routes = (router: ConnectRouter): void => void router.service(ConformanceService, conformanceService);

const rpc = createRpcHandler({
  routes,
  longLived(router) {
    registerHealth(router, health, [ConformanceService]);
    registerReflection(router, [ConformanceService], []);
  },
  guards: {
    gate: async () => {},
    slice: () => undefined,
    body: () => ({ maxBytes }),
    errors: createErrorInterceptor(explain, () => undefined),
    concurrency: (next) => next,
    streams: (next) => next,
    call: (next) => next,
    explain,
  },
  maxStreamedBytes: maxBytes,
  maxJsonDepth: config.maxJsonDepth,
  requestTimeoutMs: config.requestTimeoutMs,
  registry: createRegistry(file_connectrpc_conformance_v1_service),
  fallback: createRestHandler({ routes }),
});
const handler: HttpHandler = (request, response) => {
  const { headers } = request;
  const isTimed = (headers["grpc-timeout"] ?? headers["connect-timeout-ms"]) !== undefined;
  const values = createContextValues().set(requestIdKey, String(headers["x-request-id"]));
  return rpc(request, response, values.set(timedSinceKey, isTimed ? performance.now() : undefined));
};

const listener = createListener({
  handler: withAccessLog(withCors(handler, ["*"]), { logger, enabled: true }),
  limits: {
    maxHeaderBytes: config.maxHeaderBytes,
    headersTimeoutMs: config.requestTimeoutMs,
    requestTimeoutMs: config.requestTimeoutMs,
    keepAliveTimeoutMs: 65_000,
    maxConcurrentStreams: 256,
  },
  onError: (error) => logger.error({ err: error }, "the listener failed"),
});
const { port } = await listener.listen(0, "127.0.0.1");
writeMessage(toBinary(ServerCompatResponseSchema, create(ServerCompatResponseSchema, { host: "127.0.0.1", port })));
process.once("SIGTERM", () => void listener.close(0).then(() => process.exit(0)));

/** The suite closes the input only when it is done, so that this reads no further than its one message. */
async function readMessage(): Promise<Buffer> {
  let read = Buffer.alloc(0);
  for await (const chunk of process.stdin) {
    read = Buffer.concat([read, chunk as Buffer]);
    if (read.length >= lengthBytes && read.length >= lengthBytes + read.readUInt32BE()) break;
  }
  return read.subarray(lengthBytes);
}

function writeMessage(message: Uint8Array): void {
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32BE(message.length);
  process.stdout.write(Buffer.concat([length, message]));
}
