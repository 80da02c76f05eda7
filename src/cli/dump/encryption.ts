// Dumps are encrypted as age does (https://age-encryption.org/v1), so that the programs of age open them too.
import { readFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { Decrypter, Encrypter } from "age-encryption";
import { DumpError } from "../../database/dump/dump-error.ts";

export interface EncryptionOptions {
  readonly recipient: readonly string[];
  readonly recipientsFile?: string;
  readonly passphraseFile?: string;
}

export interface DecryptionOptions {
  readonly identity?: string;
  readonly passphraseFile?: string;
}

/** How a file of age begins. */
export const ageHeader = Buffer.from("age-encryption.org/");

/** @returns undefined for a dump that is not encrypted. @throws Error that names the option that is wrong. */
export async function createEncrypter(options: EncryptionOptions): Promise<Encrypter | undefined> {
  const { recipient, recipientsFile, passphraseFile } = options;
  const ofFile = recipientsFile === undefined ? [] : await readLines(recipientsFile);
  const recipients = [...recipient, ...ofFile];
  if (passphraseFile !== undefined) {
    if (recipients.length > 0) throw new Error("give either recipients or a passphrase, not both");
    const encrypter = new Encrypter();
    encrypter.setPassphrase(await readPassphrase(passphraseFile));
    return encrypter;
  }
  if (recipientsFile !== undefined && ofFile.length === 0) throw new Error(`${recipientsFile} has no recipients`);
  if (recipients.length === 0) return undefined;
  const encrypter = new Encrypter();
  for (const each of recipients) {
    try {
      encrypter.addRecipient(each);
    } catch (cause) {
      throw new Error(`${each} is not a recipient of age, such as age-keygen prints: age1...`, { cause });
    }
  }
  return encrypter;
}

/** Encrypts a stream. */
export async function encrypt(encrypter: Encrypter, source: Readable): Promise<Readable> {
  return Readable.fromWeb(await encrypter.encrypt(Readable.toWeb(source)));
}

/**
 * Decrypts a stream that is encrypted.
 *
 * @throws DumpError WRONG_KEY; Error that names the option that is wrong.
 */
export async function decrypt({ identity, passphraseFile }: DecryptionOptions, source: Readable): Promise<Readable> {
  const decrypter = new Decrypter();
  if (passphraseFile !== undefined) decrypter.addPassphrase(await readPassphrase(passphraseFile));
  for (const line of identity === undefined ? [] : await readLines(identity)) {
    try {
      decrypter.addIdentity(line);
    } catch (cause) {
      throw new Error(`${identity} is not a file with identities of age, such as age-keygen writes`, { cause });
    }
  }
  if (identity === undefined && passphraseFile === undefined) {
    throw new DumpError("WRONG_KEY", "the dump is encrypted: give --identity or --passphrase-file");
  }
  try {
    return Readable.fromWeb(await decrypter.decrypt(Readable.toWeb(source)));
  } catch (cause) {
    source.destroy();
    throw new DumpError("WRONG_KEY", "the dump is encrypted for another identity or with another passphrase", {
      cause,
    });
  }
}

/** Returns the lines of a file that are neither empty nor comments. */
async function readLines(file: string): Promise<string[]> {
  const lines = (await readText(file)).split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "" && !line.startsWith("#"));
}

async function readPassphrase(file: string): Promise<string> {
  const [passphrase = ""] = (await readText(file)).split("\n");
  if (passphrase === "") throw new Error(`${file} has no passphrase in its first line`);
  return passphrase;
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new Error(`${file} cannot be read`, { cause });
  }
}
