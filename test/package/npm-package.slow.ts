// Tests the package as npm would publish it: packed and unpacked in a node_modules that contains only its dependencies.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../..");
const compilerOptions = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2024", "--types", "node"];
let project: string;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "tenantry-package-"));
  const modules = join(project, "node_modules");
  await mkdir(join(modules, "tenantry"), { recursive: true });
  await writeFile(join(project, "package.json"), '{ "type": "module" }');
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", project], { cwd: root });
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf("["))) as [{ filename: string }];
  await run("tar", ["xzf", join(project, packed.filename), "-C", join(modules, "tenantry"), "--strip-components=1"]);
  const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  // Authors of a Node server in TypeScript have these types installed.
  for (const name of [...Object.keys(manifest.dependencies), "@types/node"]) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(join(root, "node_modules", name), join(modules, name));
  }
});

afterAll(() => rm(project, { recursive: true, force: true }));

test("serves any Connect service over REST, from tenantry/rest", async () => {
  const library = join(root, "test/rest/gen/rest/test/v1/library_pb.ts");
  await writeFile(
    join(project, "serve.mjs"),
    `import http from "node:http";
     import { createRestHandler } from "tenantry/rest";
     import { describeOpenApi } from "tenantry/rest/openapi";
     import { LibraryService } from ${JSON.stringify(library)};
     if (typeof describeOpenApi !== "function") throw new Error("no OpenAPI");
     const routes = (router) => router.service(LibraryService, { getBook: ({ name }) => ({ name }) });
     const server = http.createServer(createRestHandler({ routes })).listen(0, "127.0.0.1", async () => {
       const answer = await fetch("http://127.0.0.1:" + server.address().port + "/v1/shelves/1/books/2");
       console.log(await answer.text());
       server.close();
     });`,
  );
  const { stdout } = await run(process.execPath, [join(project, "serve.mjs")]);
  expect(JSON.parse(stdout)).toEqual({ name: "shelves/1/books/2" });
});

test("has types for tenantry/rest, and for the first example of the README", async () => {
  const readme = await readFile(join(root, "README.md"), "utf8");
  const example = /```ts\n(.*?)```/s.exec(readme)?.[1] ?? "";
  expect(example).toContain('from "tenantry/iam/v1alpha/member"');
  await writeFile(join(project, "example.ts"), example);
  await writeFile(
    join(project, "use.ts"),
    `import { createRestHandler, type RestHandlerOptions } from "tenantry/rest";
     export const options: RestHandlerOptions = { routes: (router) => router, maxDepth: 3 };
     export const handler: (request: never, response: never) => void = createRestHandler(options);
     // @ts-expect-error there is no such option
     createRestHandler({ routes: (router) => router, maxDeph: 3 });`,
  );
  await run(join(root, "node_modules/.bin/tsc"), [...compilerOptions, "use.ts", "example.ts"], { cwd: project });
});

test("serves the example of a service that is not ours", async () => {
  await cp(join(root, "examples/transcode"), project, { recursive: true });
  await run(join(root, "node_modules/.bin/buf"), ["build", "proto", "-o", "image.binpb"], { cwd: project });
  const server = spawn(process.execPath, ["server.mjs"], {
    cwd: project,
    env: { ...process.env, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void server.kill());
  const [line] = (await once(server.stdout.setEncoding("utf8"), "data")) as [string];
  const port = /listening on (\d+)/.exec(line)?.[1];
  const answer = await fetch(`http://127.0.0.1:${port}/v1/people/Ada:greet?loud=true`);
  expect([answer.status, await answer.json()]).toEqual([200, { text: "Hello, ADA!" }]);
  const refused = await fetch(`http://127.0.0.1:${port}/v1/people/Ada:greet?quiet=true`);
  expect(refused.status).toBe(400);
});

test("contains the bundle of the contract, and serves it", async () => {
  await writeFile(
    join(project, "bundle.mjs"),
    `import { readFileSync } from "node:fs";
     import { createProtoBundle } from "./node_modules/tenantry/dist/src/http/proto-bundle.js";
     import { contractFiles } from "./node_modules/tenantry/dist/src/rpc/services.js";
     const packed = readFileSync(new URL(import.meta.resolve("tenantry/protos.tar.gz")));
     const descriptors = readFileSync(new URL(import.meta.resolve("tenantry/descriptors.binpb")));
     const served = createProtoBundle(contractFiles);
     console.log(served.tarball.equals(packed) && descriptors.equals(served.descriptors));`,
  );
  const { stdout } = await run(process.execPath, [join(project, "bundle.mjs")]);
  expect(stdout).toBe("true\n");
});

test("contains the pages of /docs", async () => {
  await writeFile(
    join(project, "docs.mjs"),
    `import { docsFiles } from "./node_modules/tenantry/dist/src/http/docs/docs-files.js";
     const document = { openapi: "3.1.1", info: { description: "" }, tags: [], paths: {}, components: {} };
     console.log([...docsFiles(document).values()].every(({ plain }) => plain().length > 100));`,
  );
  const { stdout } = await run(process.execPath, [join(project, "docs.mjs")]);
  expect(stdout).toBe("true\n");
});

test("runs the command", async () => {
  const bin = join(project, "node_modules/tenantry/bin/tenantry.js");
  const { stdout } = await run(process.execPath, [bin, "--help"]);
  expect(stdout).toContain("Usage: tenantry");
});
