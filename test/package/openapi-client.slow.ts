// Tests a client that a generator makes from gen/openapi.json, as a user would: it must compile with strict types, and work.
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { uniqueName } from "../support/api.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);

let server: SharedServer;
let directory: string;
/** Where the compiler finds type errors, as `mistakes.ts:2`, each once. */
let errors: readonly string[];
beforeAll(async () => {
  server = await sharedServer();
  directory = await mkdtemp(join(tmpdir(), "openapi-client-"));
  await run(process.execPath, [
    join(root, "test/package/generate-client.ts"),
    join(root, "gen/openapi.json"),
    join(directory, "client"),
  ]);
  await writeFile(join(directory, "package.json"), JSON.stringify({ type: "module" }));
  await writeFile(join(directory, "program.ts"), program);
  await writeFile(join(directory, "mistakes.ts"), mistakes.join("\n"));
  errors = await compile(["program.ts", "mistakes.ts"]);
});
afterAll(async () => {
  await rm(directory, { recursive: true });
});

/** A program as a user writes it. It prints its results for the test. */
const program = `
import { client } from "./client/client.gen.ts";
import * as api from "./client/sdk.gen.ts";

const [baseUrl = "", auth = "", name = ""] = process.argv.slice(2);
client.setConfig({ baseUrl, auth });

const { data: org, response: orgResponse } = await api.createOrg({ body: { name, display_name: "Acme Ltd" } });
const { data: alice, response: aliceResponse } = await api.createMember({
  path: { org: name },
  body: { name: "alice", labels: { "cost-centre": "4711" } },
});
await api.createMember({ path: { org: name }, body: { name: "bob", type: "APPLICATION" } });

const names: string[] = [];
let page_token = "";
do {
  const { data } = await api.listMembers({ path: { org: name }, query: { page_size: 1, page_token } });
  names.push(...(data?.members ?? []).map((member) => member.name));
  page_token = data?.next_page_token ?? "";
} while (page_token !== "");

const path = { org: name, member: "@" + alice?.id };
const etag = aliceResponse?.headers.get("etag") ?? "";
const updated = await api.updateMember({ path, headers: { "If-Match": etag }, body: { display_name: "Alice Liddell" } });
const stale = await api.updateMember({ path, headers: { "If-Match": etag }, body: { display_name: "Somebody" } });
const missing = await api.getMember({ path: { org: name, member: "nobody" } });
const partial = await api.getMember({ path, query: { fields: "name" } });
const removed = await api.deleteMember({ path });

// The details are a union, which "@type" discriminates.
const reasons = [stale, missing].map(({ error }) => {
  const info = error?.error.details.find((detail) => detail["@type"] === "type.googleapis.com/google.rpc.ErrorInfo");
  return info?.["@type"] === "type.googleapis.com/google.rpc.ErrorInfo" ? info.reason : undefined;
});

console.log(
  JSON.stringify({
    created: [orgResponse?.status, org?.path, aliceResponse?.status, aliceResponse?.headers.get("location"), alice?.type],
    names,
    updated: updated.data?.display_name,
    stale: stale.response?.status,
    missing: [missing.response?.status, missing.error?.error.status],
    reasons,
    partial: partial.data,
    removed: [removed.response?.status, removed.data?.state],
  }),
);
`;

/** Each line but the first must be a type error. */
const mistakes = [
  'import * as api from "./client/sdk.gen.ts";',
  'api.createMember({ path: { org: "acme" }, body: {} });',
  'api.createMember({ path: { org: "acme" }, body: { name: "x", type: "ROBOT" } });',
  'api.getMember({ path: { org: "acme" } });',
  'api.listMembers({ path: { org: "acme" }, query: { page_size: "many" } });',
  'api.updateMember({ path: { org: "acme", member: "x" }, body: { no_such_field: 1 } });',
];

async function compile(files: readonly string[]): Promise<string[]> {
  const config = {
    compilerOptions: {
      target: "es2024",
      lib: ["es2024", "dom", "dom.iterable"],
      module: "nodenext",
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
      typeRoots: [join(root, "node_modules/@types")],
      types: ["node"],
    },
    files,
  };
  await writeFile(join(directory, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(root, "node_modules/.bin/tsc");
  const output = await run(tsc, ["--project", directory]).then(
    () => "",
    (error: { stdout?: string; message: string }) => error.stdout ?? error.message,
  );
  const lines = output.split("\n").filter((line) => line.includes("error TS"));
  return [...new Set(lines.map((line) => line.replace(/^\S*?([\w.]+)\((\d+),.*$/, "$1:$2")))];
}

test("a program that uses the generated client compiles and works", async () => {
  const name = uniqueName("acme");
  expect(errors.filter((error) => !error.startsWith("mistakes.ts:"))).toEqual([]);
  const { stdout } = await run(process.execPath, [join(directory, "program.ts"), server.url, server.operatorKey, name]);
  expect(JSON.parse(stdout)).toEqual({
    created: [201, `/orgs/${name}`, 201, expect.stringContaining(`/iam/v1alpha/orgs/${name}/members/`), "USER"],
    names: ["alice", "bob"],
    updated: "Alice Liddell",
    stale: 412,
    missing: [404, "NOT_FOUND"],
    reasons: ["ETAG_STALE", "RESOURCE_NOT_FOUND"],
    partial: { name: "alice" },
    removed: [200, "DELETED"],
  });
});

test("what the document forbids does not compile", async () => {
  const refused = errors.filter((error) => error.startsWith("mistakes.ts:"));
  expect(refused).toEqual(mistakes.slice(1).map((_mistake, index) => `mistakes.ts:${index + 2}`));
});
