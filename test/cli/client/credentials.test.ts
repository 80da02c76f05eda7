// Where secrets go: to the service that they are of, and nowhere else.
import { chmod, mkdir, readFile, rename, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sendJson, startHostileService } from "./hostile-service.ts";
import { type Terminal, openTerminal } from "./terminal.ts";

/** Writes a profile whose access token has expired. */
async function writeProfile({ home }: Terminal, url: string): Promise<string> {
  const directory = join(home, ".config/tenantry");
  await mkdir(join(directory, "credentials"), { recursive: true, mode: 0o700 });
  const profile = { url, member: "/orgs/acme/members/alice" };
  await writeFile(join(directory, "config.json"), JSON.stringify({ current: "acme", profiles: { acme: profile } }), {
    mode: 0o600,
  });
  const secret = { url, accessToken: "old", refreshToken: "r0", expireTime: 0, clientId: "c" };
  await writeFile(join(directory, "credentials/acme.json"), JSON.stringify(secret), { mode: 0o600 });
  return directory;
}

function startRefreshing() {
  let refreshes = 0;
  return startHostileService((request, response, body) => {
    if (request.url !== "/oauth2/token") return sendJson(response, { orgs: [] });
    const isCurrent = new URLSearchParams(body).get("refresh_token") === `r${refreshes}`;
    if (!isCurrent) return sendJson(response, { error: "invalid_grant", error_description: "it was replaced" }, 400);
    refreshes++;
    return sendJson(response, { access_token: `a${refreshes}`, refresh_token: `r${refreshes}`, expires_in: 3600 });
  });
}

test("of many commands at once, one refreshes the tokens, and the others use them", async () => {
  const terminal = await openTerminal();
  const { url, requests } = await startRefreshing();
  const directory = await writeProfile(terminal, url);
  const ran = await Promise.all(Array.from({ length: 8 }, () => terminal.run("list orgs")));
  expect(ran.map(({ code }) => code)).toEqual(Array(8).fill(0));
  expect(requests.filter(({ line }) => line === "POST /oauth2/token")).toHaveLength(1);
  expect(new Set(requests.flatMap(({ authorization }) => authorization ?? []))).toEqual(new Set(["Bearer a1"]));
  const file = join(directory, "credentials/acme.json");
  expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({ accessToken: "a1", refreshToken: "r1" });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test("a command takes over the lock of a process that was killed", async () => {
  const terminal = await openTerminal();
  const { url, requests } = await startRefreshing();
  const directory = await writeProfile(terminal, url);
  await writeFile(join(directory, "credentials/acme.json.lock"), "999999999", { mode: 0o600 });
  expect(await terminal.run("list orgs")).toMatchObject({ code: 0 });
  expect(requests.filter(({ line }) => line === "POST /oauth2/token")).toHaveLength(1);
});

test("a session that has ended says how to sign in again", async () => {
  const terminal = await openTerminal();
  const { url } = await startHostileService((_request, response) =>
    sendJson(response, { error: "invalid_grant" }, 400),
  );
  await writeProfile(terminal, url);
  expect(await terminal.run("list orgs")).toMatchObject({
    code: 4,
    stderr: `error: the session of the profile acme has ended\n  next: tenantry login --profile acme --server ${url}\n`,
  });
});

test("a secret that others can read, or that is a link, is not used", async () => {
  const terminal = await openTerminal();
  const { url, requests } = await startRefreshing();
  const directory = await writeProfile(terminal, url);
  const file = join(directory, "credentials/acme.json");
  await chmod(file, 0o640);
  expect(await terminal.run("list orgs")).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/its mode is 0640.*\n {2}next: chmod 600/s),
  });
  await chmod(file, 0o600);
  await rename(file, `${file}.other`);
  await symlink(`${file}.other`, file);
  expect(await terminal.run("list orgs")).toMatchObject({ code: 4, stderr: expect.stringContaining("is a link") });
  expect(requests).toEqual([]);
});

test("the secret of a profile goes to its own service only", async () => {
  const terminal = await openTerminal();
  const [own, other] = await Promise.all([startRefreshing(), startRefreshing()]);
  await writeProfile(terminal, own.url);
  expect(await terminal.run(`list orgs --server ${other.url}`)).toMatchObject({ code: 4 });
  expect(await terminal.run(`list orgs --server ${other.url} --profile acme`)).toMatchObject({ code: 64 });
  expect(other.requests).toEqual([]);
});

test("a secret knows its service, whatever the profile says", async () => {
  const terminal = await openTerminal();
  const [own, other] = await Promise.all([startRefreshing(), startRefreshing()]);
  const directory = await writeProfile(terminal, own.url);
  const profile = { url: other.url, member: "/orgs/acme/members/alice" };
  await writeFile(join(directory, "config.json"), JSON.stringify({ current: "acme", profiles: { acme: profile } }));
  expect(await terminal.run("list orgs")).toMatchObject({
    code: 4,
    stderr: expect.stringContaining(`next: tenantry login --profile acme --server ${other.url}`),
  });
  expect(await terminal.run("logout")).toMatchObject({ code: 0 });
  expect([...own.requests, ...other.requests]).toEqual([]);
});

test("the only profile that is left is used for its service, and not where none is named", async () => {
  const terminal = await openTerminal();
  const { url } = await startRefreshing();
  const directory = await writeProfile(terminal, url);
  const profile = { url, member: "/orgs/acme/members/alice" };
  await writeFile(join(directory, "config.json"), JSON.stringify({ profiles: { acme: profile } }));
  expect(await terminal.run("list orgs")).toMatchObject({
    code: 4,
    stderr: expect.stringContaining("nobody is signed in"),
  });
  expect(await terminal.run(`list orgs --server ${url}`)).toMatchObject({ code: 0 });
});

test("the key of the operator goes to a TENANTRY_URL on this machine, and says so, and to no other address", async () => {
  const terminal = await openTerminal();
  const { url, requests } = await startHostileService((_request, response) => sendJson(response, { orgs: [] }));
  const file = join(terminal.home, "operator-key");
  await writeFile(file, "tenantry_operator\n");
  expect(await terminal.run(`list orgs --server ${url}`)).toMatchObject({ code: 4 });
  expect(requests).toEqual([]);
  const env = { TENANTRY_URL: url.replace("127.0.0.1", "localhost") };
  expect(await terminal.run("delete orgs/acme", { env, answers: ["n"] })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      `As the operator of ${url}, by ${file}\ndelete orgs/acme at ${url} as ${file}? [y/N]`,
    ),
  });
  expect(await terminal.run("list orgs", { env })).toMatchObject({ code: 0 });
  expect(requests).toEqual([expect.objectContaining({ authorization: "Bearer tenantry_operator" })]);
  await rename(file, `${file}.other`);
  await mkdir(file);
  expect(await terminal.run("list orgs", { env })).toMatchObject({ code: 4 });
});

test("a refresh ends although the command is interrupted, so that the next token is not lost", async () => {
  const terminal = await openTerminal();
  const stopping = new AbortController();
  const { url } = await startHostileService((_request, response) => {
    stopping.abort();
    sendJson(response, { access_token: "a1", refresh_token: "r1", expires_in: 3600 });
  });
  const directory = await writeProfile(terminal, url);
  await terminal.run("list orgs", { signal: stopping.signal });
  const kept = await readFile(join(directory, "credentials/acme.json"), "utf8");
  expect(JSON.parse(kept)).toMatchObject({ url, accessToken: "a1", refreshToken: "r1" });
});

test("completion refreshes no token", async () => {
  const terminal = await openTerminal();
  const { url, requests } = await startRefreshing();
  await writeProfile(terminal, url);
  expect(await terminal.run("__complete -- get orgs/a")).toMatchObject({ code: 0, stderr: "" });
  expect(requests.map(({ line }) => line)).not.toContain("POST /oauth2/token");
});

test("somebody signs out of a client that was deleted", async () => {
  const terminal = await openTerminal();
  const { url } = await startHostileService((_request, response) =>
    sendJson(response, { error: "invalid_client" }, 401),
  );
  await writeProfile(terminal, url);
  expect(await terminal.run("logout")).toMatchObject({ code: 0, stderr: expect.stringContaining("is removed") });
  expect((await terminal.run("config --output json")).stdout.trim()).toBe("[]");
});

test("where no profile can be kept, nobody is asked to sign in, and the directory is named", async () => {
  const terminal = await openTerminal();
  const { url, requests } = await startHostileService((_request, response) => sendJson(response, {}));
  await symlink(join(terminal.home, "nowhere"), join(terminal.home, ".config"));
  const refused = {
    code: 4,
    stderr: expect.stringContaining(`${join(terminal.home, ".config/tenantry")} cannot be created: EEXIST\n`),
  };
  expect(await terminal.run(`login --server ${url}`)).toMatchObject(refused);
  expect(await terminal.run(`login --server ${url} --with-key`, { answers: ["tenantry_k"] })).toMatchObject(refused);
  expect(await terminal.run("config use acme")).toMatchObject(refused);
  expect(requests).toEqual([]);
});
