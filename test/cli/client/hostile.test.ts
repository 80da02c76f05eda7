// Services and machines that are not to be trusted.
import { once } from "node:events";
import { connect as connectSocket } from "node:net";
import { expect, test } from "vitest";
import { openTerminal } from "./terminal.ts";
import { sendJson, startHostileService } from "./hostile-service.ts";

const key = "tenantry_secret";

test("what a terminal would obey is shown as text, in every format", async () => {
  const name = "a\u001b]0;owned\u0007\u009b31m\u202eb\nc";
  const item = { path: `/orgs/${name}`, name, display_name: name, labels: { [name]: name }, state: name };
  const { url } = await startHostileService((_request, response) =>
    sendJson(response, { ...item, orgs: [item], nested: [{ name }] }),
  );
  const terminal = await openTerminal({ env: { TENANTRY_URL: url, TENANTRY_API_KEY: key } });
  for (const command of ["list orgs", "get orgs/acme", "whoami"]) {
    for (const format of ["table", "json", "yaml", "name", "csv"]) {
      const { shown } = await terminal.run(`${command} --output ${format}`);
      expect(shown.replaceAll(/[\r\n]/g, "")).not.toMatch(/[\p{Cc}\u202a-\u202e]/u);
    }
  }
  const { stdout } = await terminal.run("get orgs/acme --output json");
  expect(JSON.parse(stdout)).toMatchObject({ name });
});

test("errors of a service are text as well", async () => {
  const { url } = await startHostileService((_request, response) =>
    sendJson(response, { error: { code: 400, status: "X", message: "\u001b[2Jgone\u009b\u202e" } }, 400),
  );
  const terminal = await openTerminal({ env: { TENANTRY_URL: url, TENANTRY_API_KEY: key } });
  expect(await terminal.run("list orgs")).toMatchObject({ code: 1, stderr: "error: \\u001b[2Jgone\\u009b\\u202e\n" });
  const { stderr } = await terminal.run("list orgs", { isTerminal: false });
  expect(stderr).toContain("\\u001b[2Jgone\\u009b\\u202e");
});

test("a redirect is not followed, so that nobody else gets the credential", async () => {
  const other = await startHostileService((_request, response) => sendJson(response, {}));
  const { url, requests } = await startHostileService((_request, response) =>
    response.writeHead(307, { location: `${other.url}/iam/v1alpha/orgs` }).end(),
  );
  const terminal = await openTerminal({ env: { TENANTRY_URL: url, TENANTRY_API_KEY: key } });
  for (const command of ["list orgs", "api GET /x", "create orgs/a", "watch orgs/acme", "login --no-browser"]) {
    const { code, stderr } = await terminal.run(command);
    expect([code, stderr]).toEqual([expect.not.toBeOneOf([0]), expect.stringMatching(/answers 307/)]);
  }
  expect(requests[0]?.authorization).toBe(`Bearer ${key}`);
  expect(other.requests).toEqual([]);
});

test("a path cannot lead to another host, or out of the API", async () => {
  const { url, requests } = await startHostileService((_request, response) => sendJson(response, {}));
  const terminal = await openTerminal({ env: { TENANTRY_URL: url, TENANTRY_API_KEY: key } });
  for (const path of ["@example.com/x", "orgs/..%2f..%2fx", "orgs/a?b=c#d", "orgs/a b"])
    await terminal.run(`get '${path}'`);
  await terminal.run("api GET @example.com/x");
  expect(requests.map(({ line }) => line)).toEqual([
    "GET /iam/v1alpha/orgs/..%252f..%252fx",
    "GET /iam/v1alpha/orgs/a%3Fb%3Dc%23d",
    "GET /iam/v1alpha/orgs/a%20b",
    "GET /iam/v1alpha/@example.com/x",
  ]);
  expect(await terminal.run("get orgs/../../x")).toMatchObject({ code: 64 });
  expect(await terminal.run("list members --org ..")).toMatchObject({ code: 64 });
  expect(await terminal.run("list members --org acme --project a/b")).toMatchObject({ code: 64 });
  expect(await terminal.run("list members", { env: { TENANTRY_ORG: "a/b" } })).toMatchObject({ code: 64 });
});

test("an answer that does not end is cut off", async () => {
  const { url } = await startHostileService((_request, response) => {
    const piece = Buffer.alloc(4 * 1024 * 1024, " ");
    const send = (): void => void (response.destroyed || response.write(piece, send));
    send();
  });
  const terminal = await openTerminal({ env: { TENANTRY_URL: url, TENANTRY_API_KEY: key } });
  expect(await terminal.run("list orgs")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("more than 64 MiB"),
  });
});

test("an answer that is broken off is as none", async () => {
  const { url, requests } = await startHostileService((_request, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("{", () => response.destroy());
  });
  const terminal = await openTerminal({ env: { TENANTRY_URL: url, TENANTRY_API_KEY: key } });
  for (const command of ["api POST /x", "login"]) {
    const { code, stderr } = await terminal.run(command);
    expect([code, stderr]).toEqual([5, expect.stringContaining(`${url} cannot be reached`)]);
  }
  expect(requests).toHaveLength(2);
});

test("a call is repeated with the same request_id while the service is too busy, and no call that has none", async () => {
  const ids: unknown[] = [];
  const { url, requests } = await startHostileService((request, response) => {
    ids.push(new URL(request.url ?? "", "http://x").searchParams.get("request_id"));
    if (ids.length % 2 === 0) return sendJson(response, { path: "/orgs/a" });
    response.setHeader("retry-after", "0");
    sendJson(response, { error: { code: 503, status: "UNAVAILABLE", message: "busy" } }, 503);
  });
  const terminal = await openTerminal({ env: { TENANTRY_URL: url, TENANTRY_API_KEY: key } });
  expect(await terminal.run("create orgs/a --output name")).toMatchObject({ code: 0 });
  expect(ids).toEqual([expect.stringMatching(/^[\da-f-]{36}$/), ids[0]]);
  expect(await terminal.run("api POST /iam/v1alpha/x")).toMatchObject({ code: 5 });
  expect(requests).toHaveLength(3);
});

test("nobody else can end a sign-in: the wait goes on", async () => {
  const terminal = await openTerminal();
  const { url, requests } = await startHostileService((request, response) => {
    if (request.url === "/oauth2/token")
      return sendJson(response, { access_token: "a", refresh_token: "r", expires_in: 3600 });
    if (request.url === "/iam/v1alpha/me") return sendJson(response, { member: { path: "/orgs/acme/members/alice" } });
    return sendJson(response, { issuer: localhost(url), tenantry_command_line_client_id: "c" });
  });
  const answers: number[] = [];
  const openBrowser = async (address: string): Promise<void> => {
    const { searchParams } = new URL(address);
    const [redirect = "", state = ""] = ["redirect_uri", "state"].map((name) => searchParams.get(name) ?? "");
    const iss = localhost(url);
    const call = async (query: Record<string, string>, path = ""): Promise<void> => {
      const response = await fetch(`${redirect}${path}?${new URLSearchParams(query).toString()}`);
      answers.push(response.status);
    };
    await call({ code: "theirs", iss, state: "x".repeat(43) });
    await call({ code: "theirs", iss });
    await call({ error: "access_denied", iss, state: `${state.slice(0, -1)}!` });
    await call({ code: "ours", iss, state }, "/other");
    // A browser opens connections ahead of need, on which it sends nothing.
    const { hostname, port } = new URL(redirect);
    await once(connectSocket(Number(port), hostname), "connect");
    await call({ code: "ours", iss, state });
  };
  expect(await terminal.run(`login --server ${url}`, { openBrowser })).toMatchObject({ code: 0 });
  expect(answers).toEqual([404, 404, 404, 404, 200]);
  expect(requests.filter(({ line }) => line === "POST /oauth2/token")).toHaveLength(1);
  const mixedUp = async (address: string): Promise<void> => {
    const { searchParams } = new URL(address);
    const query = new URLSearchParams({
      code: "ours",
      iss: "https://other.example.com",
      state: searchParams.get("state") ?? "",
    });
    await fetch(`${searchParams.get("redirect_uri")}?${query.toString()}`);
  };
  expect(await terminal.run(`login --server ${url}`, { openBrowser: mixedUp })).toMatchObject({
    code: 4,
    stderr: expect.stringContaining(`the answer is from https://other.example.com, and not from ${localhost(url)}`),
  });
});

/** Returns another name of a service on this machine. */
function localhost(url: string): string {
  return url.replace("127.0.0.1", "localhost");
}

test("a service that says it is another one gets no code of that one", async () => {
  const terminal = await openTerminal();
  const { url, requests } = await startHostileService((_request, response) =>
    sendJson(response, { issuer: "https://iam.example.com/", tenantry_command_line_client_id: "c" }),
  );
  expect(await terminal.run(`login --server ${url}`)).toMatchObject({
    code: 4,
    stderr: `error: ${url} says that it is https://iam.example.com\n  next: tenantry login --server https://iam.example.com\n`,
  });
  expect(requests).toHaveLength(1);
});

test("a stream whose token has ended goes on with another one, and ends when there is none", async () => {
  const { url, requests } = await startHostileService((request, response) => {
    const failure = { error: { code: 401, status: "UNAUTHENTICATED", message: "the token has ended" } };
    if (request.url?.includes("after_revision") === true) return sendJson(response, failure, 401);
    const change = { change: { time: "now", resource_path: "/orgs/acme" }, resume_revision: "r1" };
    response.end(`${JSON.stringify(change)}\n${JSON.stringify(failure)}\n`);
  });
  const terminal = await openTerminal({ env: { TENANTRY_URL: url, TENANTRY_API_KEY: key } });
  expect(await terminal.run("watch orgs/acme")).toMatchObject({
    code: 4,
    stdout: "now  -  -  /orgs/acme\n",
    stderr: "error: the token has ended\n",
  });
  expect(requests.map(({ line }) => line)).toEqual([
    "GET /iam/v1alpha/orgs/acme/changes:watch",
    "GET /iam/v1alpha/orgs/acme/changes:watch?after_revision=r1",
  ]);
});
