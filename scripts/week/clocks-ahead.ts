// A month that passes at once: the clocks of a database and its server are set ahead, and what ends by then has to end.
import { globSync } from "node:fs";
import { createApi } from "../../test/support/api.ts";
import { createAccessClient } from "../../test/support/access-place.ts";
import type { DebianPostgres } from "../../test/support/debian-postgres.ts";
import { expectNoDrift } from "../../test/support/expect-no-drift.ts";
import { failureOf } from "../../test/support/failure.ts";
import type { Findings } from "../chaos/findings.ts";
import { createPeer } from "../chaos/peers.ts";
import { type Server, root } from "../chaos/servers.ts";
import { waitUntil } from "../chaos/wait-until.ts";

/** Of Debian's package `faketime`. */
const [library] = globSync("/usr/lib/*/faketime/libfaketimeMT.so.1");

/** Longer than what is deleted is kept. */
const days = 31;

/**
 * Sets the clocks of a database and its server ahead. Waits until a key and a role that expire have ended, and a deleted project is
 * purged; what does not expire must go on.
 *
 * @param metricsUrl says which jobs have run.
 */
export async function setClocksAhead(
  postgres: DebianPostgres,
  server: Server,
  operatorKey: string,
  metricsUrl: string,
  findings: Findings,
): Promise<void> {
  if (library === undefined) return console.warn("clocks stay as they are: there is no faketime");
  const { orgs, members, apiKeys, roleBindings, projects } = createApi("REST", server.url, operatorKey);
  const { path: parentPath } = await orgs.createOrg({ org: { name: "for-a-month" } });
  const expireTime = { seconds: BigInt(Math.floor(Date.now() / 1_000) + 3 * 86_400), nanos: 0 };
  const create = async (name: string, ends: { expireTime?: typeof expireTime }) => {
    const { path: subjectPath } = await members.createMember({ parentPath, member: { name } });
    const { secret = "" } = await apiKeys.createApiKey({ parentPath: subjectPath, apiKey: { name: "key", ...ends } });
    const roleBinding = { name, subjectPath, rolePath: "/roles/viewer", ...ends };
    await roleBindings.createRoleBinding({ parentPath, roleBinding });
    return { subjectPath, secret };
  };
  const [ending, lasting] = [await create("ending", { expireTime }), await create("lasting", {})];
  const { path: deleted } = await projects.createProject({ parentPath, project: { name: "deleted" } });
  await projects.deleteProject({ path: deleted });
  const access = createAccessClient("Connect", server.url, operatorKey);
  const { accepts } = createPeer(server.name, server.url, operatorKey);
  const isAllowed = async ({ subjectPath }: typeof ending): Promise<boolean> =>
    (await access.checkAccess({ subjectPath, resourcePath: parentPath, permission: "iam.orgs.get" })).allowed;
  const stateOf = async (whose: typeof ending): Promise<readonly boolean[]> => [
    await accepts(whose.secret, {}),
    await isAllowed(whose),
  ];
  const expectState = async (whose: typeof ending, expected: boolean): Promise<void> => {
    const state = await stateOf(whose);
    if (state.some((each) => each !== expected))
      findings.add("a decision is wrong", `the key and the role of ${whose.subjectPath} hold: ${state.join(", ")}`);
  };

  for (const whose of [ending, lasting]) await expectState(whose, true);
  const clock = { LD_PRELOAD: library, FAKETIME: `+${days}d`, FAKETIME_DONT_FAKE_MONOTONIC: "1" };
  await postgres.restart(clock);
  await server.replace(root, clock);
  await server.untilReady();
  await expectState(ending, false);
  await expectState(lasting, true);
  await waitUntil("what has ended is purged", async () => {
    const failures = [
      projects.getProject({ path: deleted }),
      apiKeys.getApiKey({ path: `${ending.subjectPath}/apiKeys/key` }),
    ];
    return (await Promise.all(failures.map(failureOf))).every(({ code }) => code === "NotFound");
  });
  await members.createMember({ parentPath, member: { name: "later" } });
  await expectNoDrift(postgres.url());
  let metrics = "";
  const jobs = (metric: string): string[] =>
    [...metrics.matchAll(new RegExp(`^${metric}\\{job_name="([^"]+)"\\} (\\S+)$`, "gm"))]
      .filter(([, , value]) => Number(value) > 0)
      .map(([, job = ""]) => job);
  const succeeded = (): string[] => jobs("tenantry_job_last_success_timestamp_seconds");
  await waitUntil("a purge has ended", async () => {
    metrics = await (await fetch(metricsUrl)).text();
    return succeeded().includes("purge");
  });
  console.log(`${days} days later, these jobs have run: ${succeeded().join(", ")}`);
  for (const job of jobs("tenantry_job_failures_total"))
    findings.add("an answer is wrong", `the job ${job} has failed`);
}
