import { randomBytes } from "node:crypto";
import pino from "pino";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { sql } from "kysely";
import { type Database, openDatabase } from "../../../src/database/database.ts";
import { createSealer } from "../../../src/identity/sealer.ts";
import { createAccessTokens } from "../../../src/identity/tokens/access-token.ts";
import { forgetSecretKey } from "../../../src/identity/tokens/signing-key-store.ts";
import { type SigningKeys, type TokenAlgorithm, startSigningKeys } from "../../../src/identity/tokens/signing-keys.ts";
import { type TestDatabase, createTestDatabase } from "../../support/test-database.ts";

let made: TestDatabase;
let database: Database;
const warnings: string[] = [];
const logger = pino(
  { level: "warn" },
  { write: (line) => void warnings.push((JSON.parse(line) as { msg: string }).msg) },
);
const [first, second] = [randomBytes(32), randomBytes(32)] as const;
const started: SigningKeys[] = [];
const whole = {
  scopes: undefined,
  projectId: undefined,
  allowedAddresses: undefined,
  clientOrgId: undefined,
  impersonator: undefined,
  exchangedFrom: [],
};

beforeAll(async () => {
  made = await createTestDatabase();
  database = openDatabase({
    connection: { connectionString: made.url },
    maxReadConnections: 4,
    maxWriteConnections: 4,
    onConnectionError: () => {},
  });
});
afterEach(async () => {
  warnings.length = 0;
  await Promise.all(started.splice(0).map((keys) => keys.close()));
  await sql`delete from signing_keys`.execute(database.writes);
});
afterAll(async () => {
  await database.close();
  await made.drop();
});

async function start(secrets: readonly [Buffer, ...Buffer[]] = [first], algorithm: TokenAlgorithm = "ES256") {
  const sealer = createSealer(secrets);
  const options = { secretKeysFile: "/etc/tenantry/keys", algorithm, lifeDays: 30, keptMs: 13 * 3_600_000, logger };
  const keys = await startSigningKeys({ database, sealer, ...options });
  started.push(keys);
  return keys;
}

const idsOf = (keys: SigningKeys) => keys.keySet().keys.map(({ kid }) => kid);

/** Lets days pass. */
async function pass(days: number): Promise<void> {
  const by = sql`make_interval(days => ${days})`;
  await sql`update signing_keys set active_time = active_time - ${by}, retire_time = retire_time - ${by}`.execute(
    database.writes,
  );
}

test("servers that start at once make one key", async () => {
  const servers = await Promise.all(Array.from({ length: 4 }, () => start()));
  const [ids, ...others] = servers.map(idsOf);
  expect(ids).toHaveLength(1);
  for (const each of others) expect(each).toEqual(ids);
});

test("the next key is published a day before it signs, and a retired one until its tokens have expired", async () => {
  const keys = await start();
  const [old] = idsOf(keys);
  await pass(28);
  await keys.refresh();
  expect(idsOf(keys)).toEqual([old]);
  await pass(1);
  await keys.refresh();
  const [, next] = idsOf(keys);
  expect(idsOf(keys)).toEqual([old, next]);
  expect(keys.signingKey().id).toBe(old);
  await pass(1);
  await keys.refresh();
  expect(keys.signingKey().id).toBe(next);
  expect(idsOf(keys)).toEqual([old, next]);
  const { rows } = await sql<{ id: string }>`select id from signing_keys where sealed_key is null`.execute(
    database.reads,
  );
  expect(rows).toEqual([{ id: old }]);
  await pass(1);
  await keys.refresh();
  expect(idsOf(keys)).toEqual([next]);
  // It may have signed the head of a log.
  expect(keys.has(old ?? "")).toBe(false);
  expect(keys.logKeySet().keys.map(({ kid }) => kid)).toEqual([old, next]);
});

test("the key of security events is made once, and its next one a day before, also by servers that have signed none since", async () => {
  const one = await start();
  const keysOfEvents = await Promise.all([one, one, await start()].map((keys) => keys.signingKeyFor("RS256")));
  const [old] = keysOfEvents.map(({ id }) => id);
  expect(new Set(keysOfEvents.map(({ id }) => id))).toEqual(new Set([old]));
  await Promise.all(started.splice(0).map((keys) => keys.close()));
  const other = await start();
  const ofEvents = () => other.keySet().keys.flatMap(({ kid, alg }) => (alg === "RS256" ? [kid] : []));
  expect(ofEvents()).toEqual([old]);
  await pass(29);
  await other.refresh();
  const [, next] = ofEvents();
  expect(ofEvents()).toEqual([old, next]);
  expect((await other.signingKeyFor("RS256")).id).toBe(old);
});

test("a server whose key of security events has ended reads whether another one has made the next", async () => {
  const one = await start();
  await one.signingKeyFor("RS256");
  await sql`update signing_keys set retire_time = now(), sealed_key = null where algorithm = 'RS256'`.execute(
    database.writes,
  );
  await one.refresh();
  const { id } = await (await start()).signingKeyFor("RS256");
  const isPublished = async () => (await one.freshKeySet()).keys.some(({ kid }) => kid === id);
  await expect.poll(isPublished).toBe(true);
});

test("a server with a new secret key first seals again, and the old one can be removed", async () => {
  const [id] = idsOf(await start());
  expect((await start([second, first])).signingKey().id).toBe(id);
  expect((await start([second])).signingKey().id).toBe(id);
});

const idOf = (secret: Buffer): string => createSealer([secret]).keyIds[0] ?? "";

describe("a server that lacks the secret key of the others", () => {
  const countKeys = async () => {
    const { rows } = await sql`select id, sealed_key from signing_keys order by id`.execute(database.reads);
    return rows;
  };

  test("does not start, names the key, and changes nothing", async () => {
    await start();
    const before = await countKeys();
    await expect(start([second])).rejects.toThrow(
      `/etc/tenantry/keys lacks the secret key ${idOf(first)}, with which servers of this database encrypt; it has ${idOf(second)}. Add the line`,
    );
    expect(await countKeys()).toEqual(before);
  });

  test("does not start when all start at once on an empty database either", async () => {
    const outcomes = await Promise.allSettled([start([first]), start([second])]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(await countKeys()).toHaveLength(1);
  });

  test("does not start after all have been stopped for longer than a key signs", async () => {
    await start();
    await pass(60);
    await expect(start([second])).rejects.toThrow(idOf(first));
  });

  test("starts once the key is forgotten: with a new signing key, while the old one verifies tokens", async () => {
    const [old] = idsOf(await start());
    expect(await forgetSecretKey(database.writes, idOf(second))).toEqual({ forgotten: 0, used: [idOf(first)] });
    expect(await forgetSecretKey(database.writes, idOf(first))).toEqual({ forgotten: 1, used: [] });
    const keys = await start([second]);
    expect(keys.signingKey().id).not.toBe(old);
    expect(idsOf(keys)).toEqual([old, keys.signingKey().id]);
    await expect(start([first])).rejects.toThrow(idOf(second));
  });
});

test("a server that runs while another one gets a new secret key signs with a key of its own, which the other accepts", async () => {
  const one = await start();
  const other = await start([second, first]);
  await one.refresh();
  expect(warnings).toEqual([expect.stringContaining(`lacks the secret key ${idOf(second)}`)]);
  expect(other.signingKey().id).not.toBe(one.signingKey().id);
  const issuer = () => "https://iam.example.com";
  const [mine, theirs] = [createAccessTokens(one, issuer), createAccessTokens(other, issuer)];
  const id = "01990000-0000-7000-8000-00000000dead";
  const grant = {
    memberId: id,
    orgId: id,
    sessionId: id,
    clientId: "x",
    gen: null,
    credentialExpireTime: null,
    ...whole,
  };
  const [ofOne, ofOther] = [await mine.issue(grant, Date.now(), 60), await theirs.issue(grant, Date.now(), 60)];
  await expect.poll(() => mine.verify(ofOther.text)).toMatchObject({ memberId: id });
  await expect.poll(() => theirs.verify(ofOne.text)).toMatchObject({ memberId: id });
});

test("a sealed key that is moved to another row, or changed, does not open", async () => {
  await start();
  const { rows } = await sql<{ id: string; sealed_key: Buffer }>`select id, sealed_key from signing_keys`.execute(
    database.reads,
  );
  const [{ id, sealed_key: sealed }] = rows as [{ id: string; sealed_key: Buffer }];
  const sealer = createSealer([first]);
  expect(sealer.open("signing key", id, sealed)).toBeDefined();
  expect(sealer.open("signing key", "01990000-0000-7000-8000-00000000dead", sealed)).toBeUndefined();
  for (let at = 0; at < sealed.length; at += 7) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(sealer.open("signing key", id, changed)).toBeUndefined();
  }
  expect(sealed.toString("latin1")).not.toContain('"d"');
});

test.each(["ES256", "RS256", "EdDSA"] as const)("%s signs tokens that verify", async (algorithm) => {
  const keys = await start([first], algorithm);
  const tokens = createAccessTokens(keys, () => "https://iam.example.com");
  const id = "01990000-0000-7000-8000-00000000dead";
  const grant = {
    memberId: id,
    orgId: id,
    sessionId: id,
    clientId: "x",
    gen: null,
    credentialExpireTime: null,
    ...whole,
  };
  const { text } = await tokens.issue(grant, Date.now(), 60);
  expect(await tokens.verify(text)).toMatchObject({ memberId: id });
  expect(keys.keySet().keys[0]?.alg).toBe(algorithm);
});
