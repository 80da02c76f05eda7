// Signs a person in through Keycloak: starts the service and Keycloak, makes a realm, a client and a user with Keycloak's API, fills
// in Keycloak's form, and compares who the service says has signed in. Then it counts the tokens that both issue to a program in
// one second, in turn: the median of some rounds, after one that warms up. Run with `npm run keycloak`; it needs Java 17, Maven, which
// takes Keycloak from where it is configured to take packages (160 MB, once), `unzip`, and 1 GB of memory. Takes about a minute.
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { median } from "../bench/figures.ts";
import { required } from "../src/errors/required.ts";
import { withService } from "./with-service.ts";

const run = promisify(execFile);

const version = "26.4.0";
const artifact = `org.keycloak:keycloak-quarkus-dist:${version}:zip`;
const realm = "acme";
const admin = { username: "admin", password: "admin-of-this-run" };
const person = { username: "alice", password: "password-of-this-run" };
const client = { id: "tenantry", secret: "secret-of-this-run" };

/** Far more than each call takes, so that a server that hangs ends the run. */
const ask = (url: string, init: RequestInit = {}): Promise<Response> =>
  fetch(url, { ...init, signal: AbortSignal.timeout(30_000) });

interface Keycloak {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts Keycloak in a folder. */
async function startKeycloak(folder: string): Promise<Keycloak> {
  await run("mvn", ["-q", "-B", "dependency:copy", `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`]);
  await run("unzip", ["-q", join(folder, `keycloak-quarkus-dist-${version}.zip`), "-d", folder]);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const args = ["start-dev", "--http-host=127.0.0.1", `--http-port=${port}`, `--hostname=${url}`];
  const child = spawn(join(folder, `keycloak-${version}`, "bin/kc.sh"), args, {
    env: {
      ...process.env,
      KC_BOOTSTRAP_ADMIN_USERNAME: admin.username,
      KC_BOOTSTRAP_ADMIN_PASSWORD: admin.password,
    },
    stdio: ["ignore", "ignore", "inherit"],
    // It starts Java in the same group, which is ended as a whole.
    detached: true,
  });
  await waitFor(`${url}/realms/master`, child);
  return {
    url,
    async stop() {
      if (child.exitCode !== null) return;
      const exited = once(child, "exit");
      process.kill(-required(child.pid), "SIGKILL");
      await exited;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return address !== null && typeof address === "object" ? address.port : 0;
}

async function waitFor(url: string, child: ChildProcess): Promise<void> {
  for (let waited = 0; waited < 120 && child.exitCode === null; waited++) {
    const response = await ask(url).catch(() => undefined);
    if (response?.ok === true) return;
    await sleep(1_000);
  }
  throw new Error("Keycloak has not started");
}

/** Makes the realm, its client and its user, and returns the id of the user, which is the subject. */
async function furnish(url: string, redirectUri: string): Promise<string> {
  const form = { grant_type: "password", client_id: "admin-cli", ...admin };
  const token = await ask(`${url}/realms/master/protocol/openid-connect/token`, {
    method: "POST",
    body: new URLSearchParams(form),
  });
  const { access_token: accessToken } = (await token.json()) as { access_token: string };
  const create = async (path: string, body: object): Promise<string> => {
    const headers = { authorization: `Bearer ${accessToken}`, "content-type": "application/json" };
    const response = await ask(`${url}/admin/realms${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    assert.equal(response.status, 201, await response.text());
    return (response.headers.get("location") ?? "").replace(/^.*\//, "");
  };
  await create("", { realm, enabled: true });
  await create(`/${realm}/clients`, {
    clientId: client.id,
    secret: client.secret,
    redirectUris: [redirectUri],
    serviceAccountsEnabled: true,
  });
  return create(`/${realm}/users`, {
    username: person.username,
    enabled: true,
    email: "alice@example.com",
    emailVerified: true,
    firstName: "Alice",
    lastName: "Acme",
    credentials: [{ type: "password", value: person.password, temporary: false }],
  });
}

/** Fills in the form of Keycloak, and returns where it sends the browser. */
async function fillInForm(authorizationUrl: string): Promise<string> {
  const page = await ask(authorizationUrl);
  const cookie = page.headers
    .getSetCookie()
    .map((each) => each.split(";")[0])
    .join("; ");
  const [, action = ""] = /<form[^>]*action="([^"]*)"/.exec(await page.text()) ?? [];
  const answer = await ask(action.replaceAll("&amp;", "&"), {
    method: "POST",
    body: new URLSearchParams(person),
    headers: { cookie },
    redirect: "manual",
  });
  return answer.headers.get("location") ?? "";
}

const callers = 8;
const rounds = 7;
const roundMs = 2_000;

/** Counts the tokens that a server issues in a second to callers that ask one after the other. */
async function countTokens(url: string, form: Readonly<Record<string, string>>): Promise<number> {
  const body = new URLSearchParams({ grant_type: "client_credentials", ...form });
  const startedAt = performance.now();
  let issued = 0;
  const call = async (): Promise<void> => {
    while (performance.now() - startedAt < roundMs) {
      const response = await ask(url, { method: "POST", body });
      assert.equal(response.status, 200, await response.text());
      issued++;
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  return (issued * 1_000) / (performance.now() - startedAt);
}

async function compareRates(service: string, key: string, keycloak: string): Promise<void> {
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = -1; round < rounds; round++) {
    const [our, their] = [
      await countTokens(`${service}/oauth2/token`, { client_secret: key }),
      await countTokens(`${keycloak}/realms/${realm}/protocol/openid-connect/token`, {
        client_id: client.id,
        client_secret: client.secret,
      }),
    ];
    if (round < 0) continue;
    ours.push(our);
    theirs.push(their);
  }
  const [our, their] = [median(ours), median(theirs)];
  process.stdout.write(
    `tokens a second for ${callers} callers: Tenantry ${our.toFixed(0)}, Keycloak ${their.toFixed(0)}, ratio ${(our / their).toFixed(2)}\n`,
  );
}

process.env["TENANTRY_IDENTITY_PROVIDER_NETWORKS"] = "127.0.0.1";
await withService(async ({ url, key, directory }) => {
  const service = url.replace("127.0.0.1", "localhost");
  const call = async <Answer>(path: string, body: object): Promise<Answer> => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const response = await ask(`${url}/iam/v1alpha/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    assert.equal(response.status, 201, await response.clone().text());
    return (await response.json()) as Answer;
  };
  const keycloak = await startKeycloak(directory);
  try {
    await call("orgs", { name: "acme" });
    const provider = await call<{ id: string; path: string }>("orgs/acme/identityProviders", {
      name: "keycloak",
      issuer: `${keycloak.url}/realms/${realm}`,
      client_id: client.id,
      client_secret: client.secret,
    });
    const subject = await furnish(keycloak.url, `${service}/sign-in/callback/${provider.id}`);
    const member = await call<{ path: string }>("orgs/acme/members", { name: "alice" });
    const identity = { name: "keycloak", identity_provider_path: provider.path, subject };
    await call("orgs/acme/members/alice/identities", identity);

    const ofPage = { "sec-fetch-site": "same-origin" };
    const start = await ask(`${url}/sign-in/start`, {
      method: "POST",
      body: new URLSearchParams({ provider: provider.id }),
      headers: ofPage,
      redirect: "manual",
    });
    const cookieOf = (response: Response): string => response.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const callback = await fillInForm(start.headers.get("location") ?? "");
    const back = await ask(callback, { headers: { cookie: cookieOf(start) }, redirect: "manual" });
    assert.equal(back.headers.get("location"), "/console/", await back.clone().text());
    const token = await ask(`${url}/console/session`, {
      method: "POST",
      body: JSON.stringify({ member: member.path }),
      headers: { ...ofPage, "content-type": "application/json", cookie: cookieOf(back) },
    });
    const { access_token: accessToken } = (await token.json()) as { access_token: string };
    const me = await ask(`${url}/iam/v1alpha/me`, { headers: { authorization: `Bearer ${accessToken}` } });
    const { member: signedIn } = (await me.json()) as { member?: { path: string } };
    assert.equal(signedIn?.path, member.path);
    process.stdout.write(`Keycloak ${version}: ${person.username} signed in as ${member.path}\n`);
    await compareRates(url, key, keycloak.url);
  } finally {
    await keycloak.stop();
  }
});
