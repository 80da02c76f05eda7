// Kills a server, a provider or the database in the middle of operations. Every operation ends, each request has started one,
// nothing stays reserved, and the usage is the sum of what is there.
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { expect, onTestFinished, test } from "vitest";
import { QuotasService } from "../../gen/iam/v1alpha/quota_pb.ts";
import { type Operation, Operation_State } from "../../gen/resources/v1alpha/operation_pb.ts";
import { Resource_State } from "../../gen/resources/v1alpha/resource_pb.ts";
import { systemErrorCode } from "../../src/cli/calls/system-error-code.ts";
import { required } from "../../src/errors/required.ts";
import { type Served, serveTenantry } from "../support/command.ts";
import { expectNoDrift } from "../support/expect-no-drift.ts";
import { startKillableDatabase } from "../support/killable-database.ts";
import { rounds, soakTimeoutMs } from "../support/rounds.ts";
import { openSqlClient } from "../support/sql.ts";
import { createTransport } from "../support/transports.ts";
import { writeSecretKeys } from "../support/write-secret-keys.ts";
import { type ResourcesApi, createResourcesApi, openCloud } from "./cloud.ts";

const perRound = 4;

/** The database is not restarted more than five times a minute, so it is killed rarely. */
const order = ["server", "database", "provider", "server", "provider", "server", "provider", "server"] as const;

/** The time for calls and restarts on a busy machine. */
const patienceMs = 120_000;

/** What a caller may try again. Other errors would be faults. */
const passing: ReadonlySet<Code> = new Set([
  Code.Unavailable,
  Code.Aborted,
  Code.DeadlineExceeded,
  Code.Canceled,
  Code.ResourceExhausted,
]);

/** A server that is killed also breaks the connections to it, of which Connect makes internal errors: `write EPIPE`. */
function isPassing(thrown: unknown): boolean {
  return systemErrorCode(thrown) !== undefined || passing.has(ConnectError.from(thrown).code);
}

/** "SUCCEEDED" when it has, or another text. */
const stateOf = ({ state, done }: Operation): string =>
  state === Operation_State.SUCCEEDED ? "SUCCEEDED" : `${state}, done: ${done}`;

test(
  "kills in the middle of operations leave every operation ended once, and the quotas exact",
  async () => {
    const directory = await mkdtemp(join(tmpdir(), "tenantry-kills-"));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const database = await startKillableDatabase(join(directory, "postgres"));

    const keys = await writeSecretKeys(directory);
    const servers: Served[] = [];
    const serve = async (index: number): Promise<void> => {
      const data = { TENANTRY_DATA: join(directory, `server-${index}`), TENANTRY_SECRET_KEYS_FILE: keys };
      servers[index] = await serveTenantry({ cwd: directory, env: { DATABASE_URL: database.url, ...data } });
    };
    onTestFinished(async () => void (await Promise.all(servers.map((each) => each.signal("SIGKILL")))));
    await serve(0);
    await serve(1);
    const key = (await readFile(join(directory, "server-0/operator-key"), "utf8")).trim();
    const urlOf = (index: number): string => required(servers[index % servers.length]).url;
    const cloud = await openCloud("REST", urlOf(0), key);

    const { customerPath } = await cloud.api.orgs.getOrg({ path: cloud.org });

    const providers: ChildProcess[] = [];
    const provide = (index: number): void => {
      const program = join(import.meta.dirname, "provider-process.ts");
      const args = [program, urlOf(index), key, cloud.servicePath];
      providers[index] = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
    };
    const stopProvider = async (index: number): Promise<void> => {
      const child = required(providers[index]);
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    };
    provide(0);
    provide(1);
    onTestFinished(async () => void (await Promise.all(providers.map((_, index) => stopProvider(index)))));

    /** Repeats a call on the other server until it is answered, with one request id. */
    const persist = async <Answer>(
      call: (api: ResourcesApi, requestId: string) => Promise<Answer>,
    ): Promise<Answer> => {
      const requestId = randomUUID();
      const until = performance.now() + patienceMs;
      for (let attempt = 0; ; attempt++) {
        try {
          return await call(createResourcesApi("Connect", urlOf(attempt), key), requestId);
        } catch (thrown) {
          if (!isPassing(thrown) || performance.now() > until) throw thrown;
          await sleep(50);
        }
      }
    };

    const victims: Record<(typeof order)[number], (index: number) => Promise<void>> = {
      async server(index) {
        await required(servers[index]).signal("SIGKILL");
        await serve(index);
        // The server has another port now.
        await stopProvider(index);
        provide(index);
      },
      async provider(index) {
        await stopProvider(index);
        provide(index);
      },
      database: () => database.kill(),
    };

    const pathOf = (round: number, each: number): string => cloud.pathOf(`r${round}-${each}`);
    const indices = Array.from({ length: perRound }, (_, each) => each);
    const started: string[] = [];
    const playRound = async (round: number, kill: () => Promise<void>): Promise<void> => {
      const quantities = (amount: number) => ({ [cloud.cores]: amount });
      const [before, last] = [round > 0 ? indices : [], round > 1 ? indices : []];
      const creations = indices.map((each) => {
        const resource = { name: `r${round}-${each}`, typePath: cloud.typePath, quantities: quantities(2) };
        return persist(({ resources }, requestId) =>
          resources.createResource({ parentPath: cloud.project, resource, requestId }),
        );
      });
      const changes = before.map((each) =>
        persist(({ resources }, requestId) =>
          resources.runResource({
            path: pathOf(round - 1, each),
            operation: "resize",
            quantities: quantities(3),
            requestId,
          }),
        ),
      );
      const removals = last.map((each) =>
        persist(({ resources }, requestId) => resources.deleteResource({ path: pathOf(round - 2, each), requestId })),
      );
      const [answers] = await Promise.all([
        Promise.all([...creations, ...changes, ...removals]),
        sleep(Math.random() * 150).then(kill),
      ]);
      for (const { path } of answers) {
        started.push(path);
        await expect
          .poll(() => persist(({ operations }) => operations.getOperation({ path })).then(stateOf))
          .toBe("SUCCEEDED");
      }
    };

    const expectExact = async (round: number): Promise<void> => {
      const { resources } = await persist((api) =>
        api.resources.listResources({ parentPath: cloud.project, pageSize: 1000 }),
      );
      const lines = resources.map(
        ({ path, state, givenQuantities }) => `${path} ${state} ${givenQuantities[cloud.cores]}`,
      );
      const linesOf = (from: number, cores: number): string[] =>
        indices.map((each) => `${pathOf(from, each)} ${Resource_State.ACTIVE} ${cores}`);
      const expected = [...(round > 0 ? linesOf(round - 1, 3) : []), ...linesOf(round, 2)];
      expect(lines.toSorted()).toEqual(expected.toSorted());
      const used = perRound * (round > 0 ? 5 : 2);
      for (const parentPath of [customerPath, cloud.org, cloud.project]) {
        const quotas = createClient(QuotasService, createTransport("Connect", urlOf(0), key));
        const quota = await persist(() => quotas.getQuota({ parentPath }));
        expect([parentPath, quota.usage, quota.reserved]).toEqual([parentPath, { [cloud.cores]: used }, {}]);
      }
    };

    for (let round = 0; round < rounds(2, 200); round++) {
      const name = required(order[round % order.length]);
      await playRound(round, () => victims[name](Math.random() < 0.5 ? 0 : 1));
      await expectExact(round);
    }
    expect(new Set(started).size).toBe(started.length);
    const sql = await openSqlClient(database.url);
    const [row] = await sql.query("select count(*)::int as n, count(end_time)::int as ended from operations");
    await sql.close();
    expect(row).toEqual({ n: started.length, ended: started.length });
    await expectNoDrift(database.url);
  },
  soakTimeoutMs,
);
