import { once } from "node:events";
import { create, createFileRegistry, fromBinary, getOption } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { status as grpcStatus } from "@grpc/grpc-js";
import { describe, expect, it } from "vitest";
import { http } from "../../../gen/google/api/annotations_pb.ts";
import { file_google_rpc_error_details } from "../../../gen/google/rpc/error_details_pb.ts";
import {
  ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionResponse,
} from "../../../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionV1Alpha } from "../../../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { authorization } from "../../../gen/iam/v1alpha/authorization_pb.ts";
import { GroupsService } from "../../../gen/iam/v1alpha/group_pb.ts";
import { MembersService } from "../../../gen/iam/v1alpha/member_pb.ts";
import { registerReflection } from "../../../src/http/reflection/reflection.ts";
import { callBidiStream, openGrpc } from "../grpc-client.ts";
import { endlessMs, startListener, type StartedListener } from "../start-listener.ts";

type Question = Exclude<ServerReflectionRequest["messageRequest"], { case: undefined }>;
type Answer = ServerReflectionResponse["messageResponse"];

function startServer(draining?: AbortSignal): Promise<StartedListener> {
  return startListener(
    connectNodeAdapter({
      routes: (router) =>
        registerReflection(router, [MembersService, GroupsService], [file_google_rpc_error_details], draining),
      interceptors: [
        () => () => {
          throw new Error("reflection needs no credentials");
        },
      ],
    }),
  );
}

/** Sends all requests on one stream. */
async function ask(port: number, questions: Question[], method = ServerReflection.method.serverReflectionInfo) {
  using client = openGrpc(port);
  const stream = callBidiStream(client, method);
  for (const messageRequest of questions) stream.write(create(method.input, { host: "h", messageRequest }));
  stream.end();
  const answers: Answer[] = [];
  for await (const response of stream as AsyncIterable<ServerReflectionResponse>) {
    expect(response.validHost).toBe("h");
    expect(response.originalRequest?.messageRequest.case).toBe(questions[answers.length]?.case);
    answers.push(response.messageResponse);
  }
  return answers;
}

function filesOf(answer: Answer | undefined): FileDescriptorProto[] {
  if (answer?.case !== "fileDescriptorResponse") throw new Error(`answered ${JSON.stringify(answer)}`);
  return answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
}

/** Orders the files as a registry requires: imports first. */
function importsFirst(files: readonly FileDescriptorProto[]): FileDescriptorProto[] {
  const ordered = new Set<FileDescriptorProto>();
  const add = (proto: FileDescriptorProto | undefined): void => {
    if (proto === undefined || ordered.has(proto)) return;
    for (const name of proto.dependency) add(files.find((candidate) => candidate.name === name));
    ordered.add(proto);
  };
  for (const proto of files) add(proto);
  return [...ordered];
}

const symbol = (value: string): Question => ({ case: "fileContainingSymbol", value });
const file = (value: string): Question => ({ case: "fileByFilename", value });

describe.each([
  ["v1", ServerReflection],
  ["v1alpha", ServerReflectionV1Alpha as unknown as typeof ServerReflection],
])("server reflection %s", (_version, { method }) => {
  it("lists the services, including itself", async () => {
    await using server = await startServer();
    const [answer] = await ask(server.port, [{ case: "listServices", value: "" }], method.serverReflectionInfo);
    const names = answer?.case === "listServicesResponse" ? answer.value.service.map(({ name }) => name) : [];
    expect(names).toEqual([
      "iam.v1alpha.MembersService",
      "iam.v1alpha.GroupsService",
      "grpc.health.v1.Health",
      "grpc.reflection.v1.ServerReflection",
      "grpc.reflection.v1alpha.ServerReflection",
    ]);
  });

  it("sends a file with its imports, under their import names", async () => {
    await using server = await startServer();
    const [answer] = await ask(server.port, [symbol("iam.v1alpha.MembersService")], method.serverReflectionInfo);
    const files = filesOf(answer);
    expect(files[0]?.name).toBe("iam/v1alpha/member.proto");
    const names = files.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { dependency } of files) expect(names).toEqual(expect.arrayContaining(dependency));
  });
});

describe("reflected descriptors", () => {
  it("suffice for a client to build the services with their HTTP options", async () => {
    await using server = await startServer();
    const [answer] = await ask(server.port, [symbol("iam.v1alpha.MembersService")]);
    const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: importsFirst(filesOf(answer)) }));
    const getMember = registry.getService("iam.v1alpha.MembersService")?.method["getMember"];
    expect(getMember && getOption(getMember, http).pattern).toEqual({
      case: "get",
      value: "/iam/v1alpha/{path=orgs/*/members/*}",
    });
    // `getOption` uses the received extension, not the generated code.
    expect(registry.getExtension("google.api.http")?.number).toBe(http.number);
  });

  it("include the messages in the details of errors, which no service imports", async () => {
    await using server = await startServer();
    const [answer] = await ask(server.port, [symbol("google.rpc.QuotaFailure")]);
    expect(filesOf(answer)[0]?.name).toBe("google/rpc/error_details.proto");
  });

  it("are sent once per stream, except for a requested file", async () => {
    await using server = await startServer();
    const answers = await ask(server.port, [
      symbol("iam.v1alpha.MembersService"),
      symbol("iam.v1alpha.GroupsService"),
      file("iam/v1alpha/member.proto"),
    ]);
    const [first, second, third] = answers.map((answer) => filesOf(answer).map(({ name }) => name));
    expect(first).toContain("google/protobuf/timestamp.proto");
    expect(second?.filter((name) => first?.includes(name))).toEqual([]);
    expect(third).toEqual(["iam/v1alpha/member.proto"]);
  });

  it.each([
    ["a service", "iam.v1alpha.MembersService", "iam/v1alpha/member.proto"],
    ["a method", "iam.v1alpha.MembersService.GetMember", "iam/v1alpha/member.proto"],
    ["a message", "iam.v1alpha.Member", "iam/v1alpha/member.proto"],
    ["a message written with a dot", ".iam.v1alpha.Member", "iam/v1alpha/member.proto"],
    ["a field", "iam.v1alpha.Member.display_name", "iam/v1alpha/member.proto"],
    ["a map's entry", "iam.v1alpha.Member.LabelsEntry", "iam/v1alpha/member.proto"],
    ["a oneof", "google.api.HttpRule.pattern", "google/api/http.proto"],
    ["a nested enum", "iam.v1alpha.Member.Type", "iam/v1alpha/member.proto"],
    ["an enum's value", "grpc.health.v1.HealthCheckResponse.SERVING", "grpc/health/v1/health.proto"],
    ["an extension", "google.api.http", "google/api/annotations.proto"],
    ["an extension of constraints", "iam.v1alpha.resource_name", "iam/v1alpha/constraints.proto"],
    ["an import's message", "google.protobuf.Timestamp", "google/protobuf/timestamp.proto"],
  ])("are found by %s", async (_what, name, expected) => {
    await using server = await startServer();
    const [answer] = await ask(server.port, [symbol(name)]);
    expect(filesOf(answer)[0]?.name).toBe(expected);
  });

  it("are found by file and by extension", async () => {
    await using server = await startServer();
    const [byName, byNumber] = await ask(server.port, [
      file("google/api/http.proto"),
      {
        case: "fileContainingExtension",
        value: {
          $typeName: "grpc.reflection.v1.ExtensionRequest",
          containingType: "google.protobuf.MethodOptions",
          extensionNumber: http.number,
        },
      },
    ]);
    expect(filesOf(byName)[0]?.name).toBe("google/api/http.proto");
    expect(filesOf(byNumber)[0]?.name).toBe("google/api/annotations.proto");
  });

  it("include the extension numbers of a message", async () => {
    await using server = await startServer();
    const numbersOf = (value: string): Question => ({ case: "allExtensionNumbersOfType", value });
    const [some, none] = await ask(server.port, [
      numbersOf("google.protobuf.MethodOptions"),
      numbersOf("iam.v1alpha.Member"),
    ]);
    expect(some).toMatchObject({
      case: "allExtensionNumbersResponse",
      value: {
        baseTypeName: "google.protobuf.MethodOptions",
        extensionNumber: [authorization.number, http.number],
      },
    });
    expect(none).toMatchObject({ case: "allExtensionNumbersResponse", value: { extensionNumber: [] } });
  });

  it("are NOT_FOUND for unknown names, and the stream continues", async () => {
    await using server = await startServer();
    const answers = await ask(server.port, [
      file("no/such.proto"),
      symbol("no.Such"),
      symbol(""),
      {
        case: "fileContainingExtension",
        value: {
          $typeName: "grpc.reflection.v1.ExtensionRequest",
          containingType: "iam.v1alpha.Member",
          extensionNumber: 1,
        },
      },
      { case: "allExtensionNumbersOfType", value: "no.Such" },
    ]);
    expect(answers).toHaveLength(5);
    for (const answer of answers) {
      expect(answer).toMatchObject({ case: "errorResponse", value: { errorCode: grpcStatus.NOT_FOUND } });
    }
  });
});

it("ends its streams when the server drains", async () => {
  const draining = new AbortController();
  await using server = await startServer(draining.signal);
  using client = openGrpc(server.port);
  const { method } = ServerReflection;
  const stream = callBidiStream(client, method.serverReflectionInfo);
  const ended = once(stream, "status");
  stream.write(create(method.serverReflectionInfo.input, { messageRequest: { case: "listServices", value: "" } }));
  await once(stream, "data");
  stream.resume();
  draining.abort();
  await server.listener.close(endlessMs);
  expect(await ended).toMatchObject([{ code: grpcStatus.OK }]);
});
