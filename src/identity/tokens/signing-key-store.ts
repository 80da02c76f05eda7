import { type Kysely, type Selectable, type Transaction, sql } from "kysely";
import type { Schema } from "../../database/schema.ts";
import type { SigningKeys } from "../../database/token-tables.ts";
import { keyIdInColumn } from "../../database/sealed-columns.ts";
import { keyIdOfSealed } from "../sealer.ts";
import { clockMs, readClock } from "../../database/clock.ts";

/** A signing key. Its times are in milliseconds of the database's clock. */
export interface SigningKeyRow extends Pick<Selectable<SigningKeys>, "id" | "algorithm" | "public_key" | "sealed_key"> {
  readonly active_time: number;
  readonly retire_time: number;
}

export interface PublishedKeys {
  readonly rows: readonly SigningKeyRow[];
  /** The database's clock, in milliseconds. */
  readonly now: number;
}

const inMs = (time: string) => sql<number>`(extract(epoch from ${sql.raw(time)}) * 1000)::float8`;

/** Lets one server at a time make and retire keys. Others can read them. At first, there is no row to lock. */
export async function lockSigningKeys(db: Transaction<Schema>): Promise<void> {
  await sql`lock table signing_keys in share row exclusive mode`.execute(db);
}

/** Reads all keys that there ever were. */
export async function readSigningKeys(db: Kysely<Schema>): Promise<PublishedKeys> {
  const found = await db
    .selectFrom("signing_keys")
    .select(["id", "algorithm", "public_key", "sealed_key"])
    .select([inMs("active_time").as("active_time"), inMs("retire_time").as("retire_time"), clockMs.as("now")])
    .orderBy("create_time")
    .execute();
  const now = found[0]?.now ?? Date.parse(await readClock(db));
  return { rows: found, now };
}

export async function insertSigningKey(db: Transaction<Schema>, row: SigningKeyRow, now: number): Promise<void> {
  const { id, algorithm, public_key: publicKey, sealed_key: sealedKey } = row;
  await db
    .insertInto("signing_keys")
    .values({
      id,
      algorithm,
      public_key: JSON.stringify(publicKey),
      sealed_key: sealedKey,
      create_time: new Date(now),
      active_time: new Date(row.active_time),
      retire_time: new Date(row.retire_time),
    })
    .execute();
}

export async function sealAgain(db: Transaction<Schema>, id: string, sealedKey: Buffer): Promise<void> {
  await db.updateTable("signing_keys").set({ sealed_key: sealedKey }).where("id", "=", id).execute();
}

/** Erases the private keys of retired keys. The public ones stay: the heads of logs that they have signed are verified for good. */
export async function retireSigningKeys(db: Transaction<Schema>, now: number): Promise<void> {
  const time = new Date(now);
  await sql`update signing_keys set sealed_key = null where retire_time <= ${time} and sealed_key is not null`.execute(
    db,
  );
}

/**
 * Ends what was encrypted with a secret key that is lost: the signing keys sign no more, and their private part is erased. They stay
 * published until the last of their tokens has expired.
 *
 * @param keyId from `keyIdOfSealed`.
 * @returns how many signing keys there were, and the ids of the secret keys with which others are encrypted.
 */
export async function forgetSecretKey(
  db: Kysely<Schema>,
  keyId: string,
): Promise<{ readonly forgotten: number; readonly used: readonly string[] }> {
  const now = await readClock(db);
  const { rows } = await sql`
    update signing_keys set sealed_key = null, retire_time = least(retire_time, ${now}::timestamptz)
    where ${keyIdInColumn("sealed_key")} = ${keyId}
    returning id`.execute(db);
  const others = (await readSigningKeys(db)).rows.flatMap(({ sealed_key: sealed }) => sealed ?? []);
  return { forgotten: rows.length, used: [...new Set(others.map(keyIdOfSealed))] };
}
