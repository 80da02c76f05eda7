// The keys that sign tokens. Every server reads them from the database. One server at a time makes the next key, a day before
// it signs, so that those who verify offline have read it by then.
import { type CryptoKey, type JWK, exportJWK, generateKeyPair, importJWK } from "jose";
import type { Logger } from "pino";
import { v7 as uuidv7 } from "uuid";
import type { Database } from "../../database/database.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { type Repetition, repeat } from "../../timers/repeat.ts";
import type { Sealer } from "../sealer.ts";
import { findMissingSecretKey } from "./missing-secret-key.ts";
import {
  type PublishedKeys,
  type SigningKeyRow,
  insertSigningKey,
  lockSigningKeys,
  readSigningKeys,
  retireSigningKeys,
  sealAgain,
} from "./signing-key-store.ts";

export type TokenAlgorithm = "ES256" | "RS256" | "EdDSA";

/** What security events are signed with, whatever signs tokens. */
export const eventAlgorithm: TokenAlgorithm = "RS256";

interface VerificationKey {
  readonly id: string;
  readonly algorithm: TokenAlgorithm;
  readonly key: CryptoKey;
}

interface KeySet {
  readonly keys: readonly JWK[];
}

export interface SigningKeys extends Pick<Repetition<void>, "runs" | "close"> {
  /** Returns the key that signs now. @throws ServiceError SERVICE_UNAVAILABLE when there is none. */
  readonly signingKey: () => VerificationKey;
  /**
   * Returns the key that signs now with an algorithm, which need not be that of tokens. The first is made when it is asked for, and from
   * then on this server keeps one. @throws ServiceError SERVICE_UNAVAILABLE when there is none.
   */
  readonly signingKeyFor: (algorithm: TokenAlgorithm) => Promise<VerificationKey>;
  /** Returns a published key. Reads the keys again, at most once a second, if it is not known. */
  find(id: string): VerificationKey | undefined | Promise<VerificationKey | undefined>;
  /** Returns whether a key is still published, without a read. */
  has(id: string): boolean;
  /** Returns the keys that verify tokens and security events as a JSON Web Key Set (RFC 7517). */
  readonly keySet: () => KeySet;
  /** Returns the same. Without the one of security events, which another server may just have made, it reads them, at most once a second. */
  readonly freshKeySet: () => Promise<KeySet>;
  /** Returns all keys that there ever were: each may have signed the head of a log. */
  readonly logKeySet: () => KeySet;
  /** Makes and retires keys as necessary, and reads them again. */
  refresh(): Promise<void>;
}

export interface SigningKeysOptions {
  readonly database: Database;
  readonly sealer: Sealer;
  /** The file with the keys of the sealer, for errors. */
  readonly secretKeysFile: string;
  readonly algorithm: TokenAlgorithm;
  /** How long a key signs, in days. */
  readonly lifeDays: number;
  /** How long a retired key verifies tokens, in milliseconds. */
  readonly keptMs: number;
  readonly logger: Logger;
}

const dayMs = 86_400_000;

/** How long a key is published before it signs. */
const aheadMs = dayMs;

const refreshIntervalMs = 60_000;

/** How often what has ended is forgotten, also if all keys are as they should be. */
const keepIntervalMs = 3_600_000;

/** How often an unknown key causes a read. */
const unknownIntervalMs = 1_000;

interface Known {
  readonly row: SigningKeyRow;
  readonly verification: VerificationKey;
  /** Undefined if this server cannot open the private key. */
  readonly signing: VerificationKey | undefined;
}

/**
 * Reads the keys, and makes the first if there is none. Then keeps them up to date.
 *
 * @throws MissingSecretKeyError if a key is encrypted with a secret key that this server does not have. What other servers encrypt and
 *   sign, it could not use, and they would not accept what it signs.
 */
export async function startSigningKeys(options: SigningKeysOptions): Promise<SigningKeys> {
  const { database, algorithm, logger } = options;
  let all: readonly SigningKeyRow[] = [];
  let known = new Map<string, Known>();
  let clock = { database: 0, process: 0 };
  let lastReadAt = 0;
  let keepAt = -Infinity;
  let reading: Promise<void> | undefined;

  /** The algorithms of which this server keeps a key that signs: that of events, too, once any server has made one. */
  const kept = new Set([algorithm]);

  const now = (): number => clock.database + (performance.now() - clock.process);

  const take = async ({ rows, now: databaseNow }: PublishedKeys, startedAt: number): Promise<void> => {
    const next = new Map<string, Known>();
    const ofTokens = rows.filter(({ retire_time: retireTime }) => retireTime > databaseNow - options.keptMs);
    for (const row of ofTokens)
      next.set(row.id, { ...(known.get(row.id) ?? (await openKey(options.sealer, row))), row });
    if (rows.some((row) => row.algorithm === eventAlgorithm && row.sealed_key !== null)) kept.add(eventAlgorithm);
    [all, known] = [rows, next];
    clock = { database: databaseNow, process: startedAt };
    lastReadAt = startedAt;
  };

  const read = (): Promise<void> =>
    (reading ??= (async () => {
      const startedAt = performance.now();
      await take(await readSigningKeys(database.reads), startedAt);
    })().finally(() => {
      reading = undefined;
    }));

  const refresh = async (isFirst = false): Promise<void> => {
    const startedAt = performance.now();
    const isDue = startedAt >= keepAt;
    await take(await readKept(options, [...kept], isDue, isFirst), startedAt);
    if (isDue) keepAt = startedAt + keepIntervalMs;
  };

  await refresh(true);
  const repetition = repeat(() => refresh(), {
    intervalMs: refreshIntervalMs,
    onError: (err) => logger.error({ err }, "failed to keep the keys that sign tokens; trying again"),
  });

  return {
    refresh: () => refresh(),
    has: (id) => known.has(id),

    find(id) {
      const found = known.get(id)?.verification;
      if (found !== undefined || performance.now() - lastReadAt < unknownIntervalMs) return found;
      return read().then(() => known.get(id)?.verification);
    },

    ...createPublished(algorithm, {
      known: () => [...known.values()],
      now,
      async keep(wanted) {
        kept.add(wanted);
        keepAt = -Infinity;
        await refresh();
      },
      readAgain: () => (performance.now() - lastReadAt < unknownIntervalMs ? Promise.resolve() : read()),
    }),
    logKeySet: () => toKeySet(all),
    ...repetition,
  };
}

interface HeldKeys {
  readonly known: () => readonly Known[];
  /** The clock of the database, in milliseconds. */
  readonly now: () => number;
  /** Keeps a key of an algorithm from now on. */
  readonly keep: (algorithm: TokenAlgorithm) => Promise<void>;
  /** Reads the keys again, at most once a second. */
  readonly readAgain: () => Promise<void>;
}

type PublishedMethods = Pick<SigningKeys, "signingKey" | "signingKeyFor" | "keySet" | "freshKeySet">;

/** @param algorithm of tokens. */
function createPublished(algorithm: TokenAlgorithm, { known, now, keep, readAgain }: HeldKeys): PublishedMethods {
  const keySet = (): KeySet => toKeySet(known().map(({ row }) => row));

  const making = new Map<TokenAlgorithm, Promise<void>>();

  const activeKeys = (wanted: TokenAlgorithm): readonly Known[] => {
    const time = now();
    return known().filter(({ row }) => row.algorithm === wanted && row.active_time <= time && time < row.retire_time);
  };

  const usableKey = (wanted: TokenAlgorithm): VerificationKey | undefined => {
    const usable = activeKeys(wanted).filter(({ signing }) => signing !== undefined);
    return usable.toSorted((one, other) => other.row.active_time - one.row.active_time)[0]?.signing;
  };

  /** Calls at once wait for the same one. */
  const make = (wanted: TokenAlgorithm): Promise<void> => {
    const made = making.get(wanted) ?? keep(wanted).finally(() => making.delete(wanted));
    making.set(wanted, made);
    return made;
  };

  return {
    signingKey: () => usableKey(algorithm) ?? throwMissing(),

    async signingKeyFor(wanted) {
      const found = usableKey(wanted);
      if (found !== undefined) return found;
      await make(wanted);
      return usableKey(wanted) ?? throwMissing();
    },

    keySet,

    async freshKeySet() {
      // Without the database, those that are known.
      if (activeKeys(eventAlgorithm).length === 0) await readAgain().catch(() => undefined);
      return keySet();
    },
  };
}

function throwMissing(): never {
  throw new ServiceError("SERVICE_UNAVAILABLE", "no key to sign tokens is available; try again");
}

const toKeySet = (rows: readonly SigningKeyRow[]): KeySet => ({
  keys: rows.map((row) => ({ ...row.public_key, kid: row.id, alg: row.algorithm, use: "sig" })),
});

/** Reads the keys. Where one is not as it should be, or if asked to, makes and retires keys first. */
async function readKept(
  options: SigningKeysOptions,
  algorithms: readonly TokenAlgorithm[],
  isDue: boolean,
  isFirst: boolean,
): Promise<PublishedKeys> {
  const { reads } = options.database;
  const found = await readSigningKeys(reads);
  if (!isDue && areKept(found, algorithms, options)) return found;
  await keepSigningKeys(options, algorithms, isFirst);
  return readSigningKeys(reads);
}

/** Whether keys are as `keepSigningKeys` would leave them, so that it need not lock them. */
function areKept(
  { rows, now }: PublishedKeys,
  algorithms: readonly TokenAlgorithm[],
  { sealer }: SigningKeysOptions,
): boolean {
  const areRight = rows.every(
    ({ id, sealed_key: sealed, retire_time: retireTime }) =>
      sealed === null ||
      (retireTime > now && sealer.isSealedWithFirst(sealed) && sealer.open("signing key", id, sealed) !== undefined),
  );
  const isKept = (algorithm: TokenAlgorithm): boolean => {
    const own = rows.filter((row) => row.sealed_key !== null && row.algorithm === algorithm);
    const last = Math.max(...own.map(({ retire_time: retireTime }) => retireTime));
    return own.some(({ active_time: activeTime }) => activeTime <= now) && last - aheadMs > now;
  };
  return areRight && algorithms.every(isKept);
}

/**
 * Makes the keys that are needed, retires the others, and seals again what was sealed with an older key.
 *
 * @param isFirst whether a missing secret key is an error. Later, another server may have a new one, which this server gets when it
 *   starts again; until then, it makes keys of its own.
 */
async function keepSigningKeys(
  options: SigningKeysOptions,
  algorithms: readonly TokenAlgorithm[],
  isFirst: boolean,
): Promise<void> {
  const { database, sealer, lifeDays, logger } = options;
  const made = await database.writes.transaction().execute(async (db) => {
    await lockSigningKeys(db);
    const before = await readSigningKeys(db);
    const missing = findMissingSecretKey(before.rows, options);
    if (missing !== undefined && isFirst) throw missing;
    if (missing !== undefined) logger.warn(missing.message);
    await retireSigningKeys(db, before.now);
    const { rows, now } = await readSigningKeys(db);
    const newRows: SigningKeyRow[] = [];
    const opened: SigningKeyRow[] = [];
    for (const row of rows) {
      const secret = row.sealed_key && sealer.open("signing key", row.id, row.sealed_key);
      if (!secret || !row.sealed_key) continue;
      if (!sealer.isSealedWithFirst(row.sealed_key)) {
        await sealAgain(db, row.id, sealer.seal("signing key", row.id, secret));
      }
      if (row.retire_time > now) opened.push(row);
    }
    for (const algorithm of algorithms) {
      const own = opened.filter((row) => row.algorithm === algorithm);
      const make = async (from: number): Promise<void> => {
        const row = await createSigningKey(sealer, algorithm, from, from + lifeDays * dayMs);
        await insertSigningKey(db, row, now);
        newRows.push(row);
        own.push(row);
      };
      if (!own.some(({ active_time: activeTime }) => activeTime <= now)) await make(now);
      const last = Math.max(...own.map(({ retire_time: retireTime }) => retireTime));
      if (last - aheadMs <= now) await make(last);
    }
    return newRows;
  });
  for (const { id, algorithm, active_time: activeTime } of made) {
    logger.info({ key: id, algorithm, from: new Date(activeTime).toISOString() }, "made a key that signs tokens");
  }
}

async function createSigningKey(
  sealer: Sealer,
  algorithm: TokenAlgorithm,
  activeTime: number,
  retireTime: number,
): Promise<SigningKeyRow> {
  const id = uuidv7();
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const secret = Buffer.from(JSON.stringify(await exportJWK(privateKey)));
  return {
    id,
    algorithm,
    public_key: (await exportJWK(publicKey)) as Record<string, string>,
    sealed_key: sealer.seal("signing key", id, secret),
    active_time: activeTime,
    retire_time: retireTime,
  };
}

async function openKey(sealer: Sealer, row: SigningKeyRow): Promise<Known> {
  const { id, algorithm, public_key: publicKey, sealed_key: sealedKey } = row;
  const read = async (jwk: JWK): Promise<VerificationKey> => {
    return { id, algorithm, key: (await importJWK(jwk, algorithm)) as CryptoKey };
  };
  const secret = sealedKey && sealer.open("signing key", id, sealedKey);
  return {
    row,
    verification: await read(publicKey),
    signing: secret ? await read(JSON.parse(secret.toString()) as JWK) : undefined,
  };
}
