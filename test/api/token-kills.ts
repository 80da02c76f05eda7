// A server that is killed beside one that survives, while both answer calls with the same token or code.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import { type Served, serveTenantry } from "../support/command.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { issuer } from "../support/test-server.ts";
import { type OAuthAnswer, sendForm } from "../support/token-servers.ts";
import { writeSecretKeys } from "../support/write-secret-keys.ts";

interface KillPlace {
  /** The data directory of the servers. */
  readonly directory: string;
  readonly survivor: Served;
  readonly operatorKey: string;
  /** Sends a call 16 times at once to the survivor and a server that is killed meanwhile. Returns the answers that came. */
  callDuringKill(round: number, call: (server: Served) => Promise<OAuthAnswer>): Promise<readonly OAuthAnswer[]>;
}

export async function startKillPlace(): Promise<KillPlace> {
  const directory = await mkdtemp(join(tmpdir(), "tenantry-kills-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const keys = await writeSecretKeys(directory);
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
  const operatorKey = (await readFile(join(directory, "operator-key"), "utf8")).trim();
  return {
    directory,
    survivor,
    operatorKey,
    async callDuringKill(round, call) {
      const victim = await start();
      // Without this, the first calls would only wait for the new server's connections.
      const warm = await sendForm(victim, "introspect", { token: "none", client_secret: operatorKey });
      expect(warm.status).toBe(200);
      const sent = Array.from({ length: 16 }, (_, index) => call(index % 4 === 0 ? survivor : victim));
      const settled = Promise.allSettled(sent);
      await sleep((round * 7) % 40);
      await victim.signal("SIGKILL");
      return (await settled).flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    },
  };
}
