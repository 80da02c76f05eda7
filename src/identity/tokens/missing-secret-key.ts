import { type Sealer, keyIdOfSealed } from "../sealer.ts";

/** A server does not have a secret key with which something in the database is encrypted. */
export class MissingSecretKeyError extends Error {
  override readonly name = "MissingSecretKeyError";
}

interface SecretKeys {
  readonly sealer: Pick<Sealer, "keyIds">;
  readonly secretKeysFile: string;
}

/**
 * Returns an error if signing keys are encrypted with secret keys that this server does not have. The database stores the ids of these
 * with what they encrypt.
 */
export function findMissingSecretKey(
  rows: readonly { readonly sealed_key: Buffer | null }[],
  { sealer, secretKeysFile }: SecretKeys,
): MissingSecretKeyError | undefined {
  const used = new Set(rows.flatMap(({ sealed_key: sealed }) => (sealed === null ? [] : [keyIdOfSealed(sealed)])));
  const [missing, ...more] = [...used].filter((id) => !sealer.keyIds.includes(id));
  if (missing === undefined) return undefined;
  const [all, own] = [[missing, ...more].join(", "), sealer.keyIds.join(", ")];
  return new MissingSecretKeyError(
    `${secretKeysFile} lacks the secret key ${all}, with which servers of this database encrypt; it has ${own}. Add the line of that key from the file of another server, or from a copy. If the key is lost, "tenantry forget-secret-key ${missing}" ends what is encrypted with it`,
  );
}
