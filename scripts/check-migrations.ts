// Has squawk look through the SQL of migrations for what holds up calls or breaks the version before: `npm run check:migrations`.
// `npm run check:migrations -- FILE` looks through the migrations that another file exports. Needs Python, and installs squawk into a
// virtual environment. It sees the statements that a migration sends where every statement returns no rows.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import { createStatement, dropStatement } from "../src/database/migration/concurrent-indexes.ts";
import type { Migration, Migrations } from "../src/database/migration/migration.ts";

/** The last migration from before the rules. It and those before it are applied everywhere, and stay as they are. */
const lastUnchecked = "0039-counted-kinds";

const unneeded = [
  // The migrator sets the limits of locks.
  "require-timeout-settings",
  // A migration is applied as a whole, once.
  "prefer-robust-stmts",
];

/** What only a migration does that says which versions may run beside it. */
const contracting = [
  "ban-drop-column",
  "ban-drop-constraint",
  "ban-drop-function",
  "ban-drop-table",
  "ban-drop-not-null",
  "renaming-column",
  "renaming-table",
];

/** Returns the statements of a migration as SQL. */
async function renderStatements(migration: Migration): Promise<string> {
  const statements: string[] = [];
  if ("createIndexes" in migration) statements.push(...migration.createIndexes.map(createStatement));
  else if ("dropIndexes" in migration) statements.push(...migration.dropIndexes.map(dropStatement));
  else if ("up" in migration) {
    const db = new Kysely<unknown>({
      dialect: {
        createAdapter: () => new PostgresAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (kysely) => new PostgresIntrospector(kysely),
        createQueryCompiler: () => new PostgresQueryCompiler(),
      },
      log: ({ query }) => void statements.push(query.sql),
    });
    await migration.up(db);
  }
  return statements.map((statement) => `${statement};\n`).join("\n");
}

const { migrations } = (await import(resolve(process.argv[2] ?? "src/database/migrations/all.ts"))) as {
  readonly migrations: Migrations;
};
const directory = mkdtempSync(join(tmpdir(), "tenantry-squawk-"));
try {
  const environment = join(directory, "venv");
  execFileSync("python3", ["-m", "venv", environment], { stdio: "inherit" });
  const pip = ["install", "--quiet", "--disable-pip-version-check", "squawk-cli==2.70.0"];
  execFileSync(join(environment, "bin/pip"), pip, { stdio: "inherit" });

  const names = Object.keys(migrations);
  console.log(`Not checked, from before the rules: ${names.filter((name) => name <= lastUnchecked).join(", ")}`);
  for (const name of names.filter((each) => each > lastUnchecked)) {
    const migration = migrations[name] as Migration;
    const text = await renderStatements(migration);
    if (text === "") {
      console.log(`${name}: no statements`);
      continue;
    }
    const file = join(directory, `${name}.sql`);
    writeFileSync(file, text);
    const excluded = [...unneeded, ...(migration.requires === undefined ? [] : contracting)];
    const mode = "up" in migration ? "--assume-in-transaction" : "--no-assume-in-transaction";
    const options = ["--pg-version=15", mode, `--exclude=${excluded.join(",")}`];
    const { status } = spawnSync(join(environment, "bin/squawk"), [...options, file], { stdio: "inherit" });
    if (status !== 0) process.exitCode = 1;
    else console.log(`${name}: nothing found`);
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
