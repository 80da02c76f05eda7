// A server is killed while it and another one refresh a session 16 times at once. Exactly one family goes on.
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { type Served, serveTenantry } from "../support/command.ts";
import { rounds, soakTimeoutMs } from "../support/rounds.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { type OAuthAnswer, issuer, sendForm, statusWith } from "../support/token-servers.ts";

const refreshTokenIn = ({ body }: OAuthAnswer): string => String(body["refresh_token"]);

test("exactly one family goes on after a kill", { timeout: rounds(60_000, soakTimeoutMs) }, async () => {
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
  const form = { grant_type: "client_credentials", client_secret: key, scope: "offline_access" };
  let current = refreshTokenIn(await sendForm(survivor, "token", form));
  for (let round = 0; round < rounds(2, 200); round++) {
    const victim = await start();
    const refresh = (server: Served) =>
      sendForm(server, "token", { grant_type: "refresh_token", refresh_token: current });
    // Without this, the first calls would only wait for the new server's connections.
    const warm = await sendForm(victim, "introspect", { token: "none", client_secret: key });
    expect(warm.status).toBe(200);
    const asked = Array.from({ length: 16 }, (_, index) => refresh(index % 4 === 0 ? survivor : victim));
    const settled = Promise.allSettled(asked);
    await sleep((round * 7) % 40);
    await victim.signal("SIGKILL");
    const answers = (await settled).flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    // Those whose response was lost and the others have the same successor.
    const successors = new Set([...answers, await refresh(survivor)].map(refreshTokenIn));
    expect(successors.size).toBe(1);
    [current = ""] = successors;
    const next = await refresh(survivor);
    expect(await statusWith(survivor, String(next.body["access_token"]), "/orgs/system")).toBe(200);
    current = refreshTokenIn(next);
  }
});
