// A server is killed while it applies a file, or leads an org back. What is left is the org before, or the org that was asked for.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createApi } from "../support/api.ts";
import { type Served, serveTenantry } from "../support/command.ts";
import { rounds } from "../support/rounds.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { writeSecretKeys } from "../support/write-secret-keys.ts";
import { all, filesOf } from "./files.ts";

test("a kill in the middle leaves all of a file, or of a rollback, or nothing", async () => {
  const directory = await mkdtemp(join(tmpdir(), "tenantry-file-kills-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const keys = await writeSecretKeys(directory);
  const env = { DATABASE_URL: database.url, TENANTRY_DATA: directory, TENANTRY_SECRET_KEYS_FILE: keys };
  const start = (): Promise<Served> => serveTenantry({ cwd: directory, env });
  const survivor = await start();
  onTestFinished(() => survivor.signal("SIGKILL").then(() => {}));
  const key = (await readFile(join(directory, "operator-key"), "utf8")).trim();
  const { path } = await createApi("gRPC", survivor.url, key).orgs.createOrg({ org: { name: "acme" } });
  const kept = filesOf(path, survivor.url, key);
  for (let round = 0; round < rounds(1, 40); round++) {
    const victim = await start();
    const before = await kept.export();
    const members = Array.from({ length: 300 }, (_, index) => `m${round}-${index}`).toSorted();
    const groups = Array.from({ length: 30 }, (_, index) => ({
      name: `g${round}-${10 + index}`,
      members: members.slice(index, index + 5),
    }));
    const after = { org: "acme", members, groups };
    const dying = filesOf(path, victim.url, key);
    const { plan } = await dying.plan(after, all);
    const applying = dying.client.applyOrg({ path, orgFile: after, ...all, plan }).then(
      () => "applied",
      () => "cut",
    );
    await sleep((round * 37) % 400);
    await victim.signal("SIGKILL");
    const outcome = await applying;
    const left = await kept.export();
    if (outcome === "applied") expect(left).toEqual(after);
    else expect([before, after]).toContainEqual(left);
    const second = await start();
    const { revision } = await kept.client.exportOrg({ path });
    await kept.apply({ ...left, members: [], groups: [] }, all);
    const without = await kept.export();
    const leading = filesOf(path, second.url, key)
      .client.rollbackOrg({ path, revision })
      .then(
        () => "led back",
        () => "cut",
      );
    await sleep((round * 53) % 400);
    await second.signal("SIGKILL");
    const end = await leading;
    const last = await kept.export();
    if (end === "led back") expect(last).toEqual(left);
    else expect([without, left]).toContainEqual(last);
    await kept.client.rollbackOrg({ path, revision });
    expect(await kept.export()).toEqual(left);
  }
});
