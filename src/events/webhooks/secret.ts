// What webhooks sign with, as Standard Webhooks writes it: a secret (`whsec_` and the key in base64), or a pair of Ed25519 keys, of which
// receivers get the public one (`whpk_`). Secrets and private keys are stored encrypted.
import { createPrivateKey, generateKeyPairSync, randomBytes } from "node:crypto";
import { Webhook_Signature as Signature } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import { required } from "../../errors/required.ts";
import type { Sealer } from "../../identity/sealer.ts";
import type { SigningKey } from "./signing-key.ts";

const prefix = "whsec_";
const publicPrefix = "whpk_";
const keyLength = 32;

/** What is stored of new keys, and the secret, if the receiver needs it. */
interface IssuedKeys {
  readonly secret?: string;
  readonly sealed_secret: Buffer;
  readonly public_key: Buffer | null;
}

/** @param id of the webhook. */
export function issueKeys(sealer: Pick<Sealer, "seal">, id: string, signature: Signature): IssuedKeys {
  const seal = (key: Buffer): Buffer => sealer.seal("webhook secret", id, key);
  if (signature === Signature.ED25519) {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const { x } = publicKey.export({ format: "jwk" });
    return {
      sealed_secret: seal(privateKey.export({ format: "der", type: "pkcs8" })),
      public_key: Buffer.from(required(x), "base64url"),
    };
  }
  const key = randomBytes(keyLength);
  return { secret: `${prefix}${key.toString("base64")}`, sealed_secret: seal(key), public_key: null };
}

/** Returns a public key as receivers write it; an empty text if there is none. */
export const toPublicKey = (key: Buffer | null): string =>
  key === null ? "" : `${publicPrefix}${key.toString("base64")}`;

/** What is stored of the keys of a webhook. */
interface StoredKeys {
  readonly id: string;
  readonly sealed_secret: Buffer;
  readonly sealed_previous_secret: Buffer | null;
  readonly previous_secret_expire_time: Date | null;
}

/** Returns the keys that sign at a time, the newest first. @throws Error without the key of the installation that they were sealed with. */
export function liveKeys(sealer: Pick<Sealer, "open">, stored: StoredKeys, now: Date): readonly SigningKey[] {
  const { id, sealed_previous_secret: previous, previous_secret_expire_time: end } = stored;
  const open = (sealed: Buffer): SigningKey => {
    const key = sealer.open("webhook secret", id, sealed);
    if (key === undefined) throw new Error(`the secret of the webhook ${id} was sealed with another key`);
    // Not by the public key: a server of an earlier version, which leaves that as it is, rotates to a secret.
    if (key.length === keyLength) return { kind: "v1", key };
    return { kind: "v1a", key: createPrivateKey({ key, format: "der", type: "pkcs8" }) };
  };
  const keys = [open(stored.sealed_secret)];
  if (previous !== null && end !== null && end > now) keys.push(open(previous));
  return keys;
}
