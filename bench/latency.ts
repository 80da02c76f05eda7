// Benchmarks how long one answer takes: p50 and p99 of a check and of a Get with 1, 8 and 64 connections, in every protocol, beside
// a bare server and /healthz in the same run. Run with `npm run bench:latency` or `npm run bench:latency -- --seconds 3 --rounds 5`.
//
// The caller is in another org than the subject of the check, as a service of the cloud is, so a check reads the caller's key and
// the head of the subject's org. The service runs on the first core; the load and PostgreSQL run on the second. Each round runs
// all cases in turn. Figures are medians of the rounds. Access logs are off. The load over gRPC is h2load, of Debian's
// package nghttp2-client.
import { parseArgs } from "node:util";
import { create, toBinary } from "@bufbuild/protobuf";
import { CheckAccessRequestSchema } from "../gen/iam/v1alpha/access_pb.ts";
import { GetMemberRequestSchema } from "../gen/iam/v1alpha/member_pb.ts";
import { median, quantile } from "./figures.ts";
import { loadGrpc } from "./load-grpc.ts";
import { type HttpRequest, loadHttp } from "./load-http.ts";
import { pinToCore } from "./pin-to-core.ts";
import { startBench } from "./start-bench.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "1" },
    rounds: { type: "string", default: "5" },
  },
});
const milliseconds = Number(values.seconds) * 1000;
const rounds = Number(values.rounds);
const concurrencies = [1, 8, 64];

type OnAnswer = (ms: number) => void;

interface Case {
  readonly name: string;
  readonly run: (connections: number, forMs: number, onAnswer: OnAnswer) => Promise<number>;
}

pinToCore(process.pid, 1);
const bench = await startBench();
try {
  const cases = casesOf();
  for (const { run } of cases) await run(8, 1000, () => {}); // warm up
  const samples = new Map<string, { p50: number[]; p99: number[] }>();
  for (let round = 0; round < rounds; round++) {
    for (const connections of concurrencies) {
      for (const { name, run } of cases) {
        const taken: number[] = [];
        await run(connections, milliseconds, (ms) => taken.push(ms));
        const key = `${name} ${connections}`;
        const { p50, p99 } = samples.get(key) ?? { p50: [], p99: [] };
        samples.set(key, { p50: [...p50, quantile(taken, 0.5)], p99: [...p99, quantile(taken, 0.99)] });
      }
    }
  }
  const cell = (name: string, connections: number): string => {
    const { p50 = [], p99 = [] } = samples.get(`${name} ${connections}`) ?? {};
    return `${median(p50).toFixed(2)} ${median(p99).toFixed(2)}`.padStart(16);
  };
  const width = Math.max(...cases.map(({ name }) => name.length));
  console.log(`\nmilliseconds, p50 and p99, ${rounds} rounds of ${values.seconds} s`);
  console.log(`${"connections".padEnd(width)}${concurrencies.map((count) => String(count).padStart(16)).join("")}`);
  for (const { name } of cases) {
    console.log(`${name.padEnd(width)}${concurrencies.map((connections) => cell(name, connections)).join("")}`);
  }
} finally {
  await bench.stop();
}

function casesOf(): Case[] {
  const { bareUrl, url, key, get } = bench;
  const headers = { authorization: `Bearer ${key}` };
  const json = { ...headers, "content-type": "application/json" };
  const proto = { ...headers, "content-type": "application/proto" };
  const overHttp = (name: string, request: HttpRequest, of = url): Case => ({
    name,
    run: (connections, forMs, onAnswer) => loadHttp(of, request, connections, forMs, onAnswer),
  });
  const overRpc = (what: string, path: string, body: object, message: Uint8Array<ArrayBuffer>): Case[] => [
    overHttp(`Connect JSON ${what}`, { method: "POST", path, headers: json, body: JSON.stringify(body) }),
    overHttp(`Connect proto ${what}`, { method: "POST", path, headers: proto, body: Buffer.from(message) }),
    {
      name: `gRPC ${what}`,
      run: (connections, forMs, onAnswer) => loadGrpc(url, { path, headers, message }, connections, forMs, onAnswer),
    },
  ];
  const check = { subjectPath: get, permission: "iam.members.get", resourcePath: "orgs/acme" };
  const restCheck = { subject_path: get, permission: check.permission, resource_path: check.resourcePath };
  return [
    overHttp("bare node:http, the bytes of the Get", { method: "GET", path: "/get", headers }, bareUrl),
    overHttp("/healthz", { method: "GET", path: "/healthz", headers }),
    overHttp("REST check", {
      method: "POST",
      path: "/iam/v1alpha/access:check",
      headers: json,
      body: JSON.stringify(restCheck),
    }),
    ...overRpc(
      "check",
      "/iam.v1alpha.AccessService/CheckAccess",
      check,
      toBinary(CheckAccessRequestSchema, create(CheckAccessRequestSchema, check)),
    ),
    overHttp("REST Get", { method: "GET", path: `/iam/v1alpha/${get}`, headers }),
    ...overRpc(
      "Get",
      "/iam.v1alpha.MembersService/GetMember",
      { path: get },
      toBinary(GetMemberRequestSchema, create(GetMemberRequestSchema, { path: get })),
    ),
  ];
}
