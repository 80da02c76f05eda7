// Tests a server that serves with one role and migrates with another, each with a URL of its own: the roles that docs/operating.md makes.
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createApi } from "../support/api.ts";
import { runTenantry } from "../support/command.ts";
import { hasDebianPostgres, startDebianPostgres } from "../support/debian-postgres.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { type TestServer, issuer, startTestServer } from "../support/test-server.ts";

const owner = "tenantry_owner";
const runtime = "tenantry";

/** The statements of the page, for any database, and in the new one. */
function readStatements(): readonly [string, string] {
  const page = readFileSync(join(import.meta.dirname, "../../docs/operating.md"), "utf8");
  const [, section = ""] = page.split("## Roles of the database");
  const [before = "", after = ""] = /```sql\n([^`]*)```/.exec(section)?.[1]?.split("\\connect tenantry\n") ?? [];
  return [before, after];
}

async function startWithRoles() {
  const folder = await mkdtemp(join(tmpdir(), "tenantry-roles-"));
  const postgres = await startDebianPostgres(join(folder, "cluster"));
  const urlOf = (role: string, database = "tenantry"): string =>
    `postgres://${role}:secret@127.0.0.1:${postgres.port}/${database}`;
  /** Runs statements, each by itself, as a role. */
  const run = async (role: string, text: string, database?: string): Promise<Record<string, unknown>[]> => {
    const client = new pg.Client({ connectionString: urlOf(role, database) });
    await client.connect();
    const rows: Record<string, unknown>[] = [];
    try {
      for (const statement of text.split(";").filter((each) => each.trim() !== "")) {
        rows.push(...(await client.query<Record<string, unknown>>(statement)).rows);
      }
    } finally {
      await client.end();
    }
    return rows;
  };
  const [first, inDatabase] = readStatements();
  await run("postgres", "drop database tenantry", "postgres");
  await run("postgres", first, "postgres");
  await run("postgres", inDatabase);
  return {
    folder,
    run,
    urls: { databaseUrl: urlOf(runtime), migrationDatabaseUrl: urlOf(owner) },
    async stop() {
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const problemsOf = ({ logLines }: TestServer): unknown[] =>
  logLines.map((line) => JSON.parse(line) as { level: number; msg: string }).filter(({ level }) => level >= 40);

const partitions =
  "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'changes'::regclass order by 1";

/** What the role that serves may not do. */
const changes = [
  "create table more (id int)",
  "create schema more",
  "alter table members add column more int",
  "create index more on members (name)",
  "truncate members",
  "drop table members",
];

describe.skipIf(!hasDebianPostgres)("with the roles of docs/operating.md", () => {
  let place: Awaited<ReturnType<typeof startWithRoles>>;
  beforeAll(async () => {
    place = await startWithRoles();
  });
  afterAll(() => place.stop());

  test("a server migrates and keeps partitions as the owner, and serves with a role that may not change the schema", async () => {
    const { run, urls } = place;
    const start = async (): Promise<TestServer> => {
      const server = await startTestServer({ ...urls, issuer, purgeIntervalMs: 100, changeLogDays: 31 });
      onTestFinished(() => server.close());
      return server;
    };
    const server = await start();
    const api = createApi("gRPC", server.url, server.operatorKey);
    const org = await api.orgs.createOrg({ org: { name: "acme" } });
    const member = await api.members.createMember({ parentPath: org.path, member: { name: "alice" } });
    await api.members.deleteMember({ path: member.path });
    const owners = await run(owner, "select distinct tableowner from pg_tables where schemaname = 'public'");
    expect(owners).toEqual([{ tableowner: owner }]);
    for (const statement of changes) {
      await expect(run(runtime, statement), statement).rejects.toThrow(/permission denied|must be owner/);
    }

    // As it is when no server has run for almost two years.
    const all = await run(owner, partitions);
    expect(all).toHaveLength(25);
    const later = all.slice(2).map(({ name }) => `drop table ${String(name)}`);
    const first = "for values from ('2020-01-01 00:00:00+00') to ('2020-02-01 00:00:00+00')";
    await run(owner, `${later.join(";")}; create table changes_2020_01 partition of changes ${first}`);
    const next = await start();
    await createApi("REST", next.url, server.operatorKey).orgs.createOrg({ org: { name: "initech" } });
    await expect.poll(() => run(owner, partitions)).toEqual(all);
    expect([...problemsOf(server), ...problemsOf(next)]).toEqual([]);

    const env = { DATABASE_URL: urls.databaseUrl, TENANTRY_MIGRATION_DATABASE_URL: urls.migrationDatabaseUrl };
    expect((await runTenantry(["migrate"], { env })).stdout).toBe("Nothing to migrate.\n");
  });

  test("a role that may not read and write all tables is refused, with the statements that let it", async () => {
    const { run, urls } = place;
    await run(owner, `revoke delete on all tables in schema public from ${runtime}`);
    const error: unknown = await startTestServer({ ...urls, issuer }).then(
      (server) => server.close(),
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({
      message: expect.stringMatching(
        /^the role tenantry of DATABASE_URL may not read and write access_events, .* and \d+ other tables; as tenantry_owner, run: /,
      ),
    });
    await run(owner, (error as Error).message.split("run: ")[1] ?? "");
    const server = await startTestServer({ ...urls, issuer });
    await server.close();
    expect(problemsOf(server)).toEqual([]);
  });

  test("a restore looks at the rights of both roles before it loads anything", async () => {
    const { run, urls } = place;
    const file = join(place.folder, "service.dump");
    const env = { DATABASE_URL: urls.databaseUrl, TENANTRY_MIGRATION_DATABASE_URL: urls.migrationDatabaseUrl };
    const data = { TENANTRY_DATA: join(place.folder, "data") };
    await (await startTestServer({ ...urls, issuer })).close();
    await runTenantry(["dump", file], { env: { ...env, ...data } });
    await run("postgres", `create database restored owner ${owner}`, "postgres");
    await run("postgres", readStatements()[1], "restored");
    const at = (url: string): string => url.replace(/tenantry$/, "restored");
    const restored = {
      DATABASE_URL: at(urls.databaseUrl),
      TENANTRY_MIGRATION_DATABASE_URL: at(urls.migrationDatabaseUrl),
      ...data,
    };
    const restore = (settings: Record<string, string>) =>
      runTenantry(["restore", file, "--other-secret-keys"], { env: settings });
    const tables = () => run(owner, "select from pg_tables where schemaname = 'public'", "restored");

    const ofRuntime = { DATABASE_URL: restored.DATABASE_URL, ...data };
    expect((await restore(ofRuntime)).stderr).toContain("the role tenantry may create no tables in the schema public");
    await run(owner, `alter default privileges in schema public revoke update on tables from ${runtime}`, "restored");
    const { stderr: refused } = await restore(restored);
    expect(refused).toContain("the role tenantry of DATABASE_URL may not read and write access_events");
    expect(await tables()).toEqual([]);
    await run(owner, /run: (.*)/.exec(refused)?.[1] ?? "", "restored");
    expect((await restore(restored)).code).toBe(0);
    expect(await tables()).not.toEqual([]);
  });
});

test("two databases are refused", async () => {
  const [one, other] = [await createTestDatabase(), await createTestDatabase({ empty: true })];
  onTestFinished(async () => {
    await one.drop();
    await other.drop();
  });
  await expect(startTestServer({ databaseUrl: one.url, migrationDatabaseUrl: other.url })).rejects.toThrow(
    "TENANTRY_MIGRATION_DATABASE_URL leads to another database or schema than DATABASE_URL: both must name the same one on the same server, the first with the role that owns its tables",
  );
  const same = await startTestServer({ databaseUrl: one.url, migrationDatabaseUrl: one.url });
  await same.close();
});
