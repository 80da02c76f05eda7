import { type DescMessage, type JsonObject, fromJson, toBinary } from "@bufbuild/protobuf";
import { BatchCheckAccessRequestSchema, CheckAccessRequestSchema } from "../gen/iam/v1alpha/access_pb.ts";
import { GetMemberRequestSchema } from "../gen/iam/v1alpha/member_pb.ts";
import { type Org, permission, question } from "./access-orgs.ts";
import { loadGrpc } from "./load-grpc.ts";
import { type HttpRequest, loadHttp } from "./load-http.ts";
import type { Bench } from "./start-bench.ts";

/** Calls a method for a time. Returns the number of calls a second. */
export type Load = (connections: number, forMs: number, onAnswer?: (ms: number) => void) => Promise<number>;

/** Returns the calls that are measured in an org, by name. */
export function loadsFor(bench: Pick<Bench, "url" | "key">, org: Org, batchSize: number): Record<string, Load> {
  const headers = { authorization: `Bearer ${bench.key}` };
  const send =
    (request: HttpRequest): Load =>
    (...load) =>
      loadHttp(bench.url, request, ...load);
  const post = (path: string, body: object): Load =>
    send({
      method: "POST",
      path,
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const callGrpc =
    (path: string, desc: DescMessage, body: JsonObject): Load =>
    (...load) =>
      loadGrpc(bench.url, { path, headers, message: toBinary(desc, fromJson(desc, body)) }, ...load);
  const path = `/orgs/${org.name}/members/member-${Math.floor(org.members / 2)}`;
  const check = question(org, 3);
  const batch = { checks: Array.from({ length: batchSize }, (_, number) => question(org, number)) };
  const [getMember, checkAccess] = ["/iam.v1alpha.MembersService/GetMember", "/iam.v1alpha.AccessService/CheckAccess"];
  const batchCheck = "/iam.v1alpha.AccessService/BatchCheckAccess";
  return {
    "REST Get": send({ method: "GET", path: `/iam/v1alpha${path}`, headers }),
    "REST Check": post("/iam/v1alpha/access:check", check),
    [`REST Check of ${batchSize}`]: post("/iam/v1alpha/access:batchCheck", batch),
    "Connect Get": post(getMember, { path }),
    "Connect Check": post(checkAccess, toCamelCase(check)),
    [`Connect Check of ${batchSize}`]: post(batchCheck, { checks: batch.checks.map(toCamelCase) }),
    "gRPC Get": callGrpc(getMember, GetMemberRequestSchema, { path }),
    "gRPC Check": callGrpc(checkAccess, CheckAccessRequestSchema, toCamelCase(check)),
    [`gRPC Check of ${batchSize}`]: callGrpc(batchCheck, BatchCheckAccessRequestSchema, {
      checks: batch.checks.map(toCamelCase),
    }),
  };
}

function toCamelCase({ subject_path: subjectPath, resource_path: resourcePath }: ReturnType<typeof question>) {
  return { subjectPath, permission, resourcePath };
}
