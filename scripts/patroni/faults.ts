// What happens to the primary, and for how long servers do not write then.
import { setTimeout as sleep } from "node:timers/promises";
import { createApi } from "../../test/support/api.ts";
import type { Findings } from "../chaos/findings.ts";
import type { LoadedOrg } from "../chaos/orgs.ts";
import type { Cluster } from "./cluster.ts";
import type { Probe } from "./probe.ts";

export interface FaultOptions {
  readonly cluster: Cluster;
  readonly probes: readonly Probe[];
  /** Whose access is given before a fault and revoked at the next primary. */
  readonly org: LoadedOrg;
  /** Of a server. */
  readonly url: string;
  readonly findings: Findings;
}

/** How long a former primary runs on, while another one serves. */
const twoPrimariesMs = 8_000;
/** Three times as long as Patroni waits for a primary that is silent. */
const boundMs = 60_000;

export async function injectFaults(options: FaultOptions): Promise<void> {
  const { cluster } = options;
  await during(options, "a switchover", () => cluster.switchOver());
  await during(options, "PostgreSQL and Patroni of the primary are killed", async () => {
    const former = await cluster.primary();
    former.kill();
    await cluster.untilPrimaryIsNot(former);
    former.start();
  });
  await during(options, "the primary is suspended, and resumed after the failover, Patroni last", async () => {
    const former = await cluster.primary();
    const revoke = await grant(options);
    former.pause();
    await cluster.untilPrimaryIsNot(former);
    await revoke(async () => {
      former.resumePostgres();
      await sleep(twoPrimariesMs);
      former.resumePatroni();
    });
  });
  await during(options, "Patroni of the primary is killed, and PostgreSQL runs on", async () => {
    const former = await cluster.primary();
    const revoke = await grant(options);
    former.killPatroni();
    await cluster.untilPrimaryIsNot(former);
    await revoke(async () => {
      await sleep(twoPrimariesMs);
      former.start();
    });
  });
}

async function during(
  { cluster, probes, findings }: FaultOptions,
  what: string,
  fault: () => Promise<void>,
): Promise<void> {
  await cluster.untilWell();
  await Promise.all(probes.map((probe) => probe.untilWritten()));
  const startedAt = Date.now();
  const before = await cluster.primary();
  await fault();
  await Promise.all(probes.map((probe) => probe.untilWritten()));
  await cluster.untilWell();
  const gaps = probes.map((probe) => ({ server: probe.server, ms: probe.longestGap(startedAt) }));
  const text = gaps.map(({ server, ms }) => `${server} ${(ms / 1_000).toFixed(1)} s`).join(", ");
  console.log(`${what} (${before.name}, then ${(await cluster.primary()).name}): no write for ${text}`);
  for (const { server, ms } of gaps)
    if (ms > boundMs)
      findings.add("a call did not succeed in time after many tries", `${server} did not write for ${ms} ms: ${what}`);
}

/**
 * Gives a member access. Returns a function that revokes it as soon as a server can, and then expects of all servers that they deny it,
 * while something happens.
 */
async function grant({ org, url, probes }: FaultOptions): Promise<(meanwhile: () => Promise<void>) => Promise<void>> {
  const api = createApi("REST", url, org.key);
  const [member = ""] = org.grounds[0]?.members ?? [];
  const [project = ""] = org.grounds[0]?.projects ?? [];
  const { path } = await api.roleBindings.createRoleBinding({
    parentPath: project,
    roleBinding: { name: `g-${crypto.randomUUID().slice(0, 8)}`, subjectPath: member, rolePath: "/roles/editor" },
  });
  return async (meanwhile) => {
    const requestId = crypto.randomUUID();
    for (;;) {
      const done = await api.roleBindings.deleteRoleBinding({ path, requestId }, { timeoutMs: 5_000 }).then(
        () => true,
        () => false,
      );
      if (done) break;
      await sleep(100);
    }
    const ends = probes.map((probe) => probe.expectDenied(org.key, member, project));
    await meanwhile();
    const denials = await Promise.all(ends.map((end) => end()));
    console.log(`while there were two primaries, servers denied ${denials.join(" and ")} times what was revoked`);
  };
}
