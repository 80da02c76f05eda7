// Tests `tenantry dump` and `tenantry restore`: a service that is filled, dumped and restored answers as before.
import { hash } from "node:crypto";
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toJson } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { ChangeSchema, Change_View } from "../../gen/iam/v1alpha/change_pb.ts";
import { MeService } from "../../gen/iam/v1alpha/me_pb.ts";
import { TokensService } from "../../gen/iam/v1alpha/token_pb.ts";
import { verifyFile } from "../../src/cli/verify-file.ts";
import { type DumpCommandOptions } from "../../src/cli/dump/run-dump.ts";
import { type RestoreCommandOptions, checkDump } from "../../src/cli/dump/run-restore.ts";
import { createOperatorCommands } from "../../src/cli/operator-commands.ts";
import { readConfig } from "../../src/config.ts";
import { readTables } from "../../src/database/dump/copied-tables.ts";
import { isOwnTable } from "../../src/database/dump/dumped-tables.ts";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { type Company, openCompany } from "../access/callers.ts";
import { createApi } from "../support/api.ts";
import { createTransport } from "../support/transports.ts";
import { createRandomHistory } from "../support/random-history.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { renderSchema } from "./render-schema.ts";
import { useSharedDatabase } from "./shared-database.ts";

let folder: string;
let server: TestServer;
let company: Company;
let dumped: string;

/** What COPY has to escape, and what begins like the end of the rows. */
const hostile = "\\.\n\\.\n\t\\N \u0001 日本 '\"\\\\";

const commandsOn = (databaseUrl: string, dataDirectory: string, secretKeysFile?: string) => {
  const printed: string[] = [];
  const config = { ...readConfig({}), databaseUrl, dataDirectory, secretKeysFile };
  const commands = createOperatorCommands(config, {
    logger: pino({ level: "silent" }),
    print: (line) => void printed.push(line),
    showSignInLink: () => Promise.resolve(),
    progressStream: { write: () => true },
    stopping: new AbortController().signal,
  });
  return { ...commands, printed };
};

const dumpTo = async (file: string, options: Partial<DumpCommandOptions> = {}): Promise<readonly string[]> => {
  const { dump, printed } = commandsOn(server.databaseUrl, folder, server.secretKeysFile);
  await dump(file, { recipient: [], secretKeys: true, ...options });
  return printed;
};

interface Restored {
  readonly url: string;
  readonly dataDirectory: string;
  readonly printed: readonly string[];
  readonly drop: () => Promise<void>;
}

/** @param secretKeysFile by default, the one of the server that was dumped. */
const restoreFrom = async (
  file: string,
  options: RestoreCommandOptions = {},
  secretKeysFile: string | undefined = server.secretKeysFile,
): Promise<Restored> => {
  const { url, drop } = await createTestDatabase({ empty: true });
  const dataDirectory = await mkdtemp(join(folder, "data-"));
  const { restore, printed } = commandsOn(url, dataDirectory, secretKeysFile === "" ? undefined : secretKeysFile);
  try {
    await restore(file, options);
  } catch (error) {
    // Nothing of it is left.
    await expect(tablesOf(url)).resolves.toEqual([]);
    await drop();
    throw error;
  }
  return { url, dataDirectory, printed, drop };
};

async function withDatabase<Result>(url: string, run: (database: Database) => Promise<Result>): Promise<Result> {
  const database = openDatabase({
    connection: { connectionString: url },
    maxReadConnections: 1,
    maxWriteConnections: 1,
    onConnectionError: () => {},
  });
  try {
    return await run(database);
  } finally {
    await database.close();
  }
}

const tablesOf = (url: string): Promise<readonly string[]> =>
  withDatabase(url, async ({ reads }) => (await readTables(reads)).map(({ table }) => table));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenantry-dump-"));
  server = await startTestServer();
  company = await openCompany("gRPC", server);
  const { api, org } = company;
  const history = createRandomHistory(api, org.path);
  for (let each = 0; each < 120; each++) await history.write();
  const { path } = await company.joinAs("owner", "keeper");
  await api.members.updateMember({ path, member: { description: hostile } });
  dumped = join(folder, "service.dump");
  await dumpTo(dumped);
}, 60_000);

afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

/** Everything that a reader of an org gets, and whether its log proves itself. */
async function readAll({ url, operatorKey }: Pick<TestServer, "url" | "operatorKey">): Promise<object> {
  const api = createApi("REST", url, operatorKey);
  const parentPath = company.org.path;
  const pageSize = 1000;
  const exported = await fetch(`${url}/iam/v1alpha${parentPath}:export`, {
    headers: { authorization: `Bearer ${operatorKey}` },
  });
  expect(exported.status).toBe(200);
  const file: unknown = await exported.json();
  const lists = [
    await api.members.listMembers({ parentPath, pageSize, showDeleted: true }),
    await api.apiKeys.listApiKeys({ parentPath: `${parentPath}/members/-`, pageSize }),
    await api.groupMembers.listGroupMembers({ parentPath: `${parentPath}/groups/-`, pageSize }),
    await api.roleBindings.listRoleBindings({ parentPath, pageSize }),
    await api.projects.listProjects({ parentPath, pageSize, showDeleted: true }),
  ];
  const { changes } = await api.changes.listChanges({
    parentPath,
    pageSize,
    orderBy: "time",
    view: Change_View.PROVED,
  });
  const lines = changes.map((change) => JSON.stringify(toJson(ChangeSchema, change)));
  const log = join(folder, "changes.ndjson");
  await writeFile(log, lines.map((line) => `${line}\n`).join(""));
  const last = changes.at(-1)?.proof?.hash ?? "";
  const verified = await verifyFile(log, { head: [last] }, () => {});
  expect(verified).toMatchObject({ entries: lines.length, faults: 0 });
  // To read the log with its proofs is in the log.
  return { file, lists, lines: lines.filter((line) => !line.includes('"type":"READ"')) };
}

test("the service answers from a restored database as before, and tokens and sign-ins of before have ended", async () => {
  const keeper = await company.join("signed-in");
  const issued = await createClient(TokensService, keeper.transport).issueToken({ startSession: true });
  const restoredFile = join(folder, "signed-in.dump");
  const said = await dumpTo(restoredFile);
  expect(said).toEqual([
    expect.stringMatching(/signed-in\.dump: \d+ rows of \d+ tables, \d/),
    expect.stringMatching(/It has no secret keys: keep a copy of /),
  ]);
  const before = await readAll(server);
  const restored = await restoreFrom(restoredFile);
  expect(restored.printed).toEqual([
    expect.stringMatching(/^Restored \d+ rows of \d+ tables, as of 20/),
    "Ended all tokens and sign-ins, and 1 session: people sign in again.",
    expect.stringMatching(/^API keys are as they were at 20.* \(\d+ valid\): .* is valid again, so delete it/),
    expect.stringMatching(/operator-key is not there/),
  ]);
  const schemas = [server.databaseUrl, restored.url].map((url) =>
    withDatabase(url, ({ reads }) => renderSchema(reads)),
  );
  expect(await schemas[1]).toBe(await schemas[0]);

  const { url, dataDirectory } = restored;
  const again = await startTestServer({ databaseUrl: url, secretKeysFile: server.secretKeysFile, dataDirectory });
  try {
    expect(await readAll({ url: again.url, operatorKey: server.operatorKey })).toEqual(before);
    const call = (key: string) => createClient(MeService, createTransport("REST", again.url, key)).getMe({});
    await expect(call(issued.accessToken)).rejects.toThrow("unauthenticated");
    const { refreshToken } = issued;
    const nobody = createClient(TokensService, createTransport("REST", again.url, undefined));
    await expect(nobody.refreshToken({ refreshToken })).rejects.toThrow("unauthenticated");
    await expect(call(keeper.key)).resolves.toMatchObject({});
    // It writes on, in the same chain.
    await createApi("REST", again.url, server.operatorKey).members.createMember({
      parentPath: company.org.path,
      member: { name: "after" },
    });
    await readAll({ url: again.url, operatorKey: server.operatorKey });
    // Its retired keys verify the heads of before.
    const ids = async (at: string): Promise<readonly string[]> => {
      const answer = (await (await fetch(`${at}/.well-known/log-keys.json`)).json()) as { keys: { kid: string }[] };
      return answer.keys.map(({ kid }) => kid);
    };
    expect(await ids(again.url)).toEqual(expect.arrayContaining([...(await ids(server.url))]));
  } finally {
    await again.close();
    await restored.drop();
  }
}, 60_000);

test("a dump is read by its owner alone, replaces no file, and leaves nothing if it fails", async () => {
  expect((await stat(dumped)).mode & 0o777).toBe(0o600);
  await expect(dumpTo(dumped)).rejects.toThrow(`${dumped} exists; --force replaces it`);
  const missing = join(folder, "no", "folder.dump");
  await expect(dumpTo(missing)).rejects.toThrow("ENOENT");
  await dumpTo(dumped, { force: true });
  const empty = await createTestDatabase({ empty: true });
  const { dump } = commandsOn(empty.url, folder);
  await expect(dump(join(folder, "empty.dump"), { recipient: [], secretKeys: true })).rejects.toThrow(
    "there is nothing to dump",
  );
  await empty.drop();
  expect((await readdir(folder)).filter((name) => name.includes(".part") || name === "empty.dump")).toEqual([]);
});

test("a restore refuses a database that has something, and leaves it as it was", async () => {
  const { restore } = commandsOn(server.databaseUrl, folder, server.secretKeysFile);
  await expect(restore(dumped, {})).rejects.toThrow("the database is not empty: restore into a new one");
  await expect(company.api.orgs.getOrg({ path: company.org.path })).resolves.toMatchObject({});
});

const check = async (file: string): Promise<readonly string[]> => {
  const printed: string[] = [];
  await checkDump(file, {}, (line) => printed.push(line), { write: () => true });
  return printed;
};

describe("a file that is not whole", () => {
  const text = (): string => zstdDecompressSync(bytes).toString();
  let bytes: Buffer;
  beforeAll(async () => {
    bytes = await readFile(dumped);
  });
  const changed = (offset: number): Buffer => {
    const copy = Buffer.from(bytes);
    copy.writeUInt8(copy.readUInt8(offset) ^ 1, offset);
    return copy;
  };
  const rewritten = (change: (whole: string) => string): Buffer => zstdCompressSync(change(text()));

  const withoutTable = (all: string, table: string): string => {
    const start = all.indexOf(`{"table":"${table}"`);
    const end = all.indexOf("\n", all.indexOf('{"rows":', start)) + 1;
    return all.slice(0, start) + all.slice(end);
  };
  /** As whoever changes a dump can do it, too. */
  const withHash = (all: string): Buffer => {
    const start = all.lastIndexOf("{");
    const { tables } = JSON.parse(all.slice(start)) as { tables: number };
    const [kept, sha256] = [all.slice(0, start), hash("sha256", all.slice(0, start))];
    return zstdCompressSync(`${kept}${JSON.stringify({ tables: tables - 1, sha256 })}\n`);
  };

  test.for<[what: string, file: () => Buffer, message: string | RegExp, isRestored?: boolean]>([
    ["has another byte in the middle", () => changed(bytes.length >> 1), "the dump is damaged or cut off"],
    // Behind it is the checksum of zstd, which adds nothing to the hashes.
    ["has another byte near its end", () => changed(bytes.length - 20), "the dump is damaged or cut off", true],
    ["is cut off", () => bytes.subarray(0, bytes.length - 100), "the dump is damaged or cut off"],
    ["is empty", () => Buffer.alloc(0), "the file is not a dump that tenantry dump has made"],
    ["is something else", () => Buffer.from("select 1;\n".repeat(10)), "the file is not a dump"],
    ["is compressed text", () => zstdCompressSync("hello\n"), "the file is not a dump"],
    ["ends after a table", () => rewritten((all) => all.slice(0, all.lastIndexOf("{"))), "its end is missing"],
    [
      "has another row",
      () => rewritten((all) => all.replace("\tkeeper\t", "\tkeeped\t")),
      "the rows of members are not",
    ],
    [
      "has another table end",
      () => rewritten((all) => all.replace('{"table":"customers"', '{"table":"customars"')),
      /its hash is another one|make no table/,
    ],
    ["has more", () => rewritten((all) => `${all}more\n`), "something follows its end"],
    ["is of a later form", () => rewritten((all) => all.replace("tenantry dump 1", "tenantry dump 2")), "newer than"],
    [
      "has secret keys that are not encrypted",
      () => rewritten((all) => all.replace('"secretKeys":', '"secretKeysFile":"k","secretKeys":')),
      "it has secret keys although it is not encrypted",
      true,
    ],
    ["lacks a table", () => withHash(withoutTable(text(), "installation")), "it lacks the tables installation", true],
    [
      "has a later migration",
      () => rewritten((all) => all.replace(/"migrations":\["/, '"migrations":["9999-later","')),
      /9999-later.* does not know\. Restore it with that version|its hash is another one/,
      true,
    ],
  ])("one that %s is refused, and nothing of it is restored", async ([, make, message, isRestored]) => {
    const file = join(folder, "wrong.dump");
    await writeFile(file, make());
    await expect(check(file)).rejects.toThrow(message);
    // The others take as long as a restore that succeeds.
    if (isRestored === true) await expect(restoreFrom(file)).rejects.toThrow(message);
  });

  test("a whole one passes the check", async () => {
    const printed = await check(dumped);
    expect(printed[0]).toMatch(/service\.dump is whole: \d+ rows of \d+ tables, as of /);
  });
});

test("an encrypted dump has the secret keys, and opens with its identity alone", async () => {
  const identity = await generateX25519Identity();
  const files = { identity: join(folder, "identity"), other: join(folder, "other"), phrase: join(folder, "phrase") };
  await writeFile(files.identity, `# a comment\n${identity}\n`);
  await writeFile(files.other, `${await generateX25519Identity()}\n`);
  await writeFile(files.phrase, "some words\n");
  const file = join(folder, "encrypted.dump");
  const printed = await dumpTo(file, { recipient: [await identityToRecipient(identity)] });
  expect(printed).toContain("It is encrypted, and has the secret keys.");
  await expect(restoreFrom(file)).rejects.toThrow("the dump is encrypted: give --identity or --passphrase-file");
  for (const options of [{ identity: files.other }, { passphraseFile: files.phrase }])
    await expect(restoreFrom(file, options)).rejects.toThrow(
      "encrypted for another identity or with another passphrase",
    );
  const restored = await restoreFrom(file, { identity: files.identity }, "");
  const keys = join(restored.dataDirectory, "secret-keys");
  expect(await readFile(keys, "utf8")).toBe(await readFile(server.secretKeysFile, "utf8"));
  expect((await stat(keys)).mode & 0o777).toBe(0o600);
  await restored.drop();
  await expect(dumpTo(join(folder, "no"), { recipient: ["age1wrong"] })).rejects.toThrow(
    "age1wrong is not a recipient",
  );
});

test("a restore with other secret keys is refused, unless what they encrypt may be lost", async () => {
  const other = join(folder, "other-keys");
  await writeFile(other, `${Buffer.alloc(32, 7).toString("base64")}\n`);
  await expect(restoreFrom(dumped, {}, other)).rejects.toThrow(/are encrypted with the secret key .* has other ones/);
  await expect(restoreFrom(dumped, {}, "")).rejects.toThrow(/secret-keys does not exist\. Put the file/);
  const restored = await restoreFrom(dumped, { otherSecretKeys: true }, other);
  expect(restored.printed).toContainEqual(expect.stringMatching(/^What other secret keys had encrypted is lost/));
  await restored.drop();
});

describe("tables", () => {
  const shared = useSharedDatabase();

  test("each table of the schema is dumped or left out on purpose", async () => {
    const found = await readTables(shared().reads);
    expect(found.map(({ table }) => table).filter((table) => !isOwnTable(table))).toEqual([]);
  });
});
