// The secrets of webhooks, as Standard Webhooks writes them: `whsec_` and the key in base64. They are stored encrypted, because requests are
// signed with them.
import { randomBytes } from "node:crypto";
import type { Sealer } from "../../identity/sealer.ts";

const prefix = "whsec_";
const keyLength = 32;

/** A new secret, and what is stored of it. */
export interface IssuedSecret {
  readonly secret: string;
  readonly sealed: Buffer;
}

/** @param id of the webhook. */
export function issueSecret(sealer: Pick<Sealer, "seal">, id: string): IssuedSecret {
  const key = randomBytes(keyLength);
  return { secret: `${prefix}${key.toString("base64")}`, sealed: sealer.seal("webhook secret", id, key) };
}

function openSecret(sealer: Pick<Sealer, "open">, id: string, sealed: Buffer): Buffer {
  const key = sealer.open("webhook secret", id, sealed);
  if (key === undefined) throw new Error(`the secret of the webhook ${id} was sealed with another key`);
  return key;
}

/** What is stored of the secrets of a webhook. */
interface StoredSecrets {
  readonly id: string;
  readonly sealed_secret: Buffer;
  readonly sealed_previous_secret: Buffer | null;
  readonly previous_secret_expire_time: Date | null;
}

/** Returns the keys that sign at a time, the newest first. @throws Error without the key of the installation that they were sealed with. */
export function liveSecrets(sealer: Pick<Sealer, "open">, stored: StoredSecrets, now: Date): readonly Buffer[] {
  const { id, sealed_previous_secret: previous, previous_secret_expire_time: end } = stored;
  const isLive = previous !== null && end !== null && end > now;
  return [stored.sealed_secret, ...(isLive ? [previous] : [])].map((sealed) => openSecret(sealer, id, sealed));
}
