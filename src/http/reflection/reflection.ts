import { setTimeout as sleep } from "node:timers/promises";
import { type DescFile, type DescService, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, type ConnectRouter, type ServiceImpl } from "@connectrpc/connect";
import { anonymous } from "../../scheduling/settings.ts";
import { paceKey } from "../request-pace.ts";
import { Health } from "../../../gen/grpc/health/v1/health_pb.ts";
import {
  ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionResponseSchema,
} from "../../../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionV1Alpha } from "../../../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { createDescriptorIndex, type DescriptorIndex } from "./descriptor-index.ts";

type Serialise = (file: DescFile) => Uint8Array;
type Question = ServerReflectionRequest["messageRequest"];
type ReflectionAnswer = NonNullable<MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"]>;

/**
 * Registers gRPC server reflection (v1 and v1alpha) for `services`, the health service, itself and the files of `details`, which
 * no service imports: the messages in the details of errors, which grpcurl shows only if it can look them up. It reveals only the
 * published protos, so callers need no credentials: the router's interceptors do not run. Clients keep the stream open;
 * `draining` ends it, so that it does not delay the close of the server. Each answer counts as an anonymous request; a long one as
 * several.
 */
export function registerReflection(
  router: ConnectRouter,
  services: readonly DescService[],
  details: readonly DescFile[],
  draining: AbortSignal = new AbortController().signal,
): void {
  /** Created for the first question. */
  let index: DescriptorIndex | undefined;
  const serialise = createSerialise();

  const implementation: ServiceImpl<typeof ServerReflection> = {
    async *serverReflectionInfo(requests, { values, signal }) {
      index ??= createDescriptorIndex([...services, Health, ServerReflection, ServerReflectionV1Alpha], details);
      const sent = new Set<string>();
      const ended = AbortSignal.any([signal, draining]);
      for await (const request of endedBy(draining, requests)) {
        const { host, messageRequest } = request;
        const messageResponse = answer(index, sent, serialise, messageRequest);
        const waitMs = values.get(paceKey).take(weightOf(request, messageResponse));
        if (waitMs > 0) await sleep(waitMs, undefined, { signal: ended });
        yield { validHost: host, originalRequest: request, messageResponse };
      }
    },
  };

  router.service(ServerReflection, implementation, { interceptors: [] });
  // v1alpha has the same messages in a different package.
  router.service(ServerReflectionV1Alpha as unknown as typeof ServerReflection, implementation, { interceptors: [] });
}

/** Returns as how many anonymous requests an answer counts, which repeats its question. */
function weightOf(request: ServerReflectionRequest, answered: ReflectionAnswer): number {
  const files = answered.case === "fileDescriptorResponse" ? (answered.value.fileDescriptorProto ?? []) : [];
  const { value = "" } = request.messageRequest;
  const repeated = typeof value === "string" ? value : value.containingType;
  const bytes = files.reduce((sum, file) => sum + file.length, request.host.length + repeated.length);
  return 1 + Math.floor(bytes / anonymous.bytesOfRequest);
}

function createSerialise(): Serialise {
  const serialised = new Map<DescFile, Uint8Array>();
  return (file) => {
    const known = serialised.get(file);
    if (known !== undefined) return known;
    const bytes = toBinary(FileDescriptorProtoSchema, file.proto);
    serialised.set(file, bytes);
    return bytes;
  };
}

/** Yields the items until the signal is aborted, even while waiting for the next one. */
async function* endedBy<T>(signal: AbortSignal, items: AsyncIterable<T>): AsyncGenerator<T> {
  let stopWaiting = (): void => undefined;
  const stop = () => stopWaiting();
  signal.addEventListener("abort", stop);
  try {
    const iterator = items[Symbol.asyncIterator]();
    while (!signal.aborted) {
      const next = await new Promise<IteratorResult<T, undefined>>((resolve, reject) => {
        stopWaiting = () => resolve({ done: true, value: undefined });
        iterator.next().then(resolve, reject);
      });
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function answer(index: DescriptorIndex, sent: Set<string>, serialise: Serialise, question: Question): ReflectionAnswer {
  const answerFile = (file: DescFile | undefined, what: string): ReflectionAnswer =>
    file === undefined ? errorAnswer(Code.NotFound, `there is no ${what}`) : fileAnswer(sent, serialise, file);

  switch (question.case) {
    case "listServices":
      return { case: "listServicesResponse", value: { service: index.services.map((name) => ({ name })) } };
    case "fileByFilename":
      return answerFile(index.files.get(question.value), `file ${question.value}`);
    case "fileContainingSymbol": {
      // Some clients use the leading dot of full names in descriptors.
      const name = question.value.replace(/^\./, "");
      return answerFile(index.symbols.get(name), `symbol ${name}`);
    }
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = question.value;
      const file = index.extensions.get(containingType)?.get(extensionNumber);
      return answerFile(file, `extension ${extensionNumber} of ${containingType}`);
    }
    case "allExtensionNumbersOfType": {
      const numbers = index.extensions.get(question.value);
      if (numbers === undefined) return errorAnswer(Code.NotFound, `there is no message ${question.value}`);
      const extensionNumber = [...numbers.keys()].toSorted((a, b) => a - b);
      return { case: "allExtensionNumbersResponse", value: { baseTypeName: question.value, extensionNumber } };
    }
    case undefined:
    default:
      return errorAnswer(Code.InvalidArgument, "the request has no message_request that this server supports");
  }
}

function errorAnswer(errorCode: Code, errorMessage: string): ReflectionAnswer {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}

/**
 * Returns the file and those of its transitive imports that this stream has not sent yet. Some clients add each response to
 * their pool and fail on duplicates; others would otherwise have to request each import.
 */
function fileAnswer(sent: Set<string>, serialise: Serialise, file: DescFile): ReflectionAnswer {
  const files = [file];
  sent.add(file.proto.name);
  for (const { dependencies } of files) {
    for (const dependency of dependencies) {
      if (sent.has(dependency.proto.name)) continue;
      sent.add(dependency.proto.name);
      files.push(dependency);
    }
  }
  const fileDescriptorProto = files.map(serialise);
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto } };
}
