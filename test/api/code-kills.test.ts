// A server is killed while it and another one exchange a code 16 times at once. At most one family goes on.
import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createApi } from "../support/api.ts";
import { type Served, serveTenantry } from "../support/command.ts";
import { rounds, soakTimeoutMs } from "../support/rounds.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { issuer, sendForm, statusWith } from "../support/token-servers.ts";

const redirectUri = "https://app.example.com/callback";
const ofPage = { "sec-fetch-site": "same-origin" };

test("at most one family goes on after a kill", { timeout: rounds(60_000, soakTimeoutMs) }, async () => {
  const directory = await mkdtemp(join(tmpdir(), "tenantry-kills-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const keys = join(directory, "keys");
  await writeFile(keys, `${randomBytes(32).toString("base64")}\n`);
  const start = (): Promise<Served> =>
    serveTenantry({
      cwd: directory,
      env: {
        DATABASE_URL: database.url,
        TENANTRY_DATA: directory,
        TENANTRY_ISSUER: issuer,
        TENANTRY_SECRET_KEYS_FILE: keys,
      },
    });
  const survivor = await start();
  onTestFinished(() => survivor.signal("SIGKILL").then(() => {}));
  const key = (await readFile(join(directory, "operator-key"), "utf8")).trim();
  await expect.poll(() => existsSync(join(directory, "sign-in-link")), { timeout: 10_000 }).toBe(true);
  const link = (await readFile(join(directory, "sign-in-link"), "utf8")).trim();
  const { id } = await createApi("gRPC", survivor.url, key).clients.createClient({
    parentPath: "/orgs/system",
    client: { name: "app", redirectUris: [redirectUri] },
  });
  const post = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${survivor.url}${path}`, {
      method: "POST",
      body: new URLSearchParams(form),
      headers: { ...ofPage, ...headers },
      redirect: "manual",
    });
  const signedIn = await post("/sign-in/code", { code: link.slice(link.indexOf("#") + 1) });
  const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  let completed = 0;
  for (let round = 0; round < rounds(2, 200); round++) {
    const verifier = randomBytes(32).toString("base64url");
    const request = new URLSearchParams({
      response_type: "code",
      client_id: id,
      redirect_uri: redirectUri,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
      scope: "offline_access",
    }).toString();
    const page = await (await fetch(`${survivor.url}/oauth2/authorize?${request}`, { headers: { cookie } })).text();
    const member = /name="member" value="([^"]*)"/.exec(page)?.[1] ?? "";
    const allowed = await post("/oauth2/authorize/decision", { request, member, decision: "allow" }, { cookie });
    const code = new URL(allowed.headers.get("location") ?? "").searchParams.get("code") ?? "";
    const victim = await start();
    const redeem = (server: Served) =>
      sendForm(server, "token", {
        grant_type: "authorization_code",
        client_id: id,
        redirect_uri: redirectUri,
        code_verifier: verifier,
        code,
      });
    // Without this, the first calls would only wait for the new server's connections.
    expect((await sendForm(victim, "introspect", { token: "none", client_secret: key })).status).toBe(200);
    const asked = Array.from({ length: 16 }, (_, index) => redeem(index % 4 === 0 ? survivor : victim));
    const settled = Promise.allSettled(asked);
    await sleep((round * 7) % 40);
    await victim.signal("SIGKILL");
    const answers = (await settled).flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    const [tokens, ...others] = answers.filter(({ status }) => status === 200);
    expect(others).toEqual([]);
    expect(answers.filter(({ status }) => status !== 200).map(({ body }) => body["error"])).toEqual(
      Array.from({ length: answers.length - (tokens === undefined ? 0 : 1) }, () => "invalid_grant"),
    );
    // The response with the tokens may be lost with the server that sent it.
    if (tokens === undefined) continue;
    completed++;
    const form = { grant_type: "refresh_token", refresh_token: String(tokens.body["refresh_token"]) };
    const next = await sendForm(survivor, "token", form);
    expect(await statusWith(survivor, String(next.body["access_token"]), "/orgs/system")).toBe(200);
    // A member has a hundred sessions, and the oldest is that of the browser.
    await post("/oauth2/revoke", { token: String(next.body["refresh_token"]), client_id: id });
  }
  expect(completed).toBeGreaterThan(0);
});
