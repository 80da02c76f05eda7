// Encrypts secrets that are stored in the database, with AES-256-GCM. Each purpose has its own key, derived with HKDF from a
// key of the installation. The purpose and the id of the row are authenticated, so that a secret that is moved to another row
// does not open.
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";

export interface Sealer {
  /** The ids of the keys, in their order. An id tells nothing about its key. */
  readonly keyIds: readonly string[];
  /** Encrypts with the first key. */
  seal(purpose: SealedPurpose, id: string, secret: Buffer): Buffer;
  /** Decrypts with the key that the secret was sealed with; undefined without this key, or if the secret was tampered with. */
  open(purpose: SealedPurpose, id: string, sealed: Buffer): Buffer | undefined;
  isSealedWithFirst(sealed: Buffer): boolean;
  /** Derives a new key for one file from the first key. */
  createFileKey(purpose: FilePurpose): FileKey;
  /** Returns the key of a file by its header; undefined without the installation's key that it was derived from. */
  findFileKey(purpose: FilePurpose, header: Buffer): Buffer | undefined;
  /** Returns the HMAC-SHA256 of a text with the first key. */
  sign(purpose: SignedPurpose, text: string): Buffer;
  /** Reports whether a text was signed with any of the keys. */
  isSigned(purpose: SignedPurpose, text: string, signature: Buffer): boolean;
}

type SealedPurpose =
  | "signing key"
  | "client secret"
  | "sign-in"
  | "invited person"
  | "webhook secret"
  | "push authorization";
type SignedPurpose = "refresh token";
type FilePurpose = "access snapshot";

/** A key that seals one file only. */
export interface FileKey {
  /** What the file has to keep, so that its key is found again. */
  readonly header: Buffer;
  readonly key: Buffer;
}

export const secretKeyLength = 32;

const version = 1;
const keyIdLength = 8;
const nonceLength = 12;
const tagLength = 16;
const headerLength = 1 + keyIdLength + nonceLength;
const saltLength = 32;

export const fileHeaderLength = 1 + keyIdLength + saltLength;

/** @param keys of 32 random bytes each. The first seals; all open. */
export function createSealer(keys: readonly [Buffer, ...Buffer[]]): Sealer {
  const known = keys.map((key) => ({ key, id: keyIdOf(key) }));
  const [first] = known as [KnownKey, ...KnownKey[]];
  const keyOf = (sealed: Buffer): KnownKey | undefined => known.find(({ id }) => isSealedWith(id, sealed));

  return {
    keyIds: known.map(({ id }) => id.toString("hex")),

    seal(purpose, id, secret) {
      const nonce = randomBytes(nonceLength);
      const cipher = createCipheriv("aes-256-gcm", derive(first.key, purpose), nonce);
      cipher.setAAD(contextOf(purpose, id));
      const encrypted = Buffer.concat([cipher.update(secret), cipher.final()]);
      return Buffer.concat([Buffer.of(version), first.id, nonce, encrypted, cipher.getAuthTag()]);
    },

    open(purpose, id, sealed) {
      if (sealed.length < headerLength + tagLength || sealed[0] !== version) return undefined;
      const found = keyOf(sealed);
      if (found === undefined) return undefined;
      const nonce = sealed.subarray(1 + keyIdLength, headerLength);
      const decipher = createDecipheriv("aes-256-gcm", derive(found.key, purpose), nonce, { authTagLength: tagLength });
      decipher.setAAD(contextOf(purpose, id));
      decipher.setAuthTag(sealed.subarray(-tagLength));
      try {
        return Buffer.concat([decipher.update(sealed.subarray(headerLength, -tagLength)), decipher.final()]);
      } catch {
        return undefined;
      }
    },

    createFileKey(purpose) {
      const salt = randomBytes(saltLength);
      return { header: Buffer.concat([Buffer.of(version), first.id, salt]), key: derive(first.key, purpose, salt) };
    },

    findFileKey(purpose, header) {
      if (header.length !== fileHeaderLength || header[0] !== version) return undefined;
      const found = keyOf(header);
      return found && derive(found.key, purpose, header.subarray(1 + keyIdLength));
    },

    sign: (purpose, text) => macOf(first.key, purpose, text),

    isSigned(purpose, text, signature) {
      return known.some(({ key }) => {
        const expected = macOf(key, purpose, text);
        return expected.length === signature.length && timingSafeEqual(expected, signature);
      });
    },

    isSealedWithFirst: (sealed) => isSealedWith(first.id, sealed),
  };
}

interface KnownKey {
  readonly key: Buffer;
  readonly id: Buffer;
}

function keyIdOf(key: Buffer): Buffer {
  return createHash("sha256").update("tenantry key id").update(key).digest().subarray(0, keyIdLength);
}

export function keyIdOfSealed(sealed: Buffer): string {
  return sealed.subarray(1, 1 + keyIdLength).toString("hex");
}

function isSealedWith(keyId: Buffer, sealed: Buffer): boolean {
  const given = sealed.subarray(1, 1 + keyIdLength);
  return given.length === keyId.length && timingSafeEqual(given, keyId);
}

function macOf(key: Buffer, purpose: SignedPurpose, text: string): Buffer {
  return createHmac("sha256", derive(key, purpose)).update(text).digest();
}

function derive(
  key: Buffer,
  purpose: SealedPurpose | SignedPurpose | FilePurpose,
  salt: Buffer = Buffer.alloc(0),
): Buffer {
  return Buffer.from(hkdfSync("sha256", key, salt, `tenantry ${purpose}`, secretKeyLength));
}

function contextOf(purpose: SealedPurpose, id: string): Buffer {
  return Buffer.from(`${purpose}\n${id}`);
}
