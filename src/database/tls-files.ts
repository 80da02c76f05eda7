// The certificates of connections to the database. They are replaced while a server runs, so their files are read for each new
// connection: those that are open stay as they are.
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { type ConnectionOptions, createSecureContext } from "node:tls";
import { type TlsSettings, tlsFileParameters } from "./database-url.ts";

/** Returns what the next connection uses; false if it is not encrypted. */
export type ReadTls = () => ConnectionOptions | false;

/** A server and this process do not accept each other's certificates. Either may get another one while this process runs. */
export class CertificateError extends Error {
  override readonly name = "CertificateError";
}

/** Codes of Node and of OpenSSL: of a chain that ends nowhere, of another name, of a time that is over, and of what the server refuses. */
const certificateCodes =
  /^(?:UNABLE_TO_|CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_|ERROR_IN_C|PATH_LENGTH_|HOSTNAME_MISMATCH|ERR_TLS_CERT_|ERR_SSL_)/;

/** Returns the error of a connection, which names its server if it is about certificates. */
export function explainCertificates(error: Error, where: string): Error {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (!certificateCodes.test(code)) return error;
  const text = `no connection to the database server ${where} that its certificate allows (${error.message}): sslrootcert in DATABASE_URL must name the authority of its certificate`;
  return new CertificateError(text, { cause: error });
}

type Texts = Partial<Record<keyof TlsSettings["files"], string>>;

/**
 * Reads the files, and again whenever the returned function is called. Files that cannot be used then, because somebody is writing
 * them, are reported once, and the ones before go on being used.
 *
 * @throws Error that names the parameter of a file that cannot be used now.
 */
export function openTlsFiles(settings: TlsSettings | false, onError: (error: Error) => void): ReadTls {
  if (settings === false) return () => false;
  let texts = readTexts(settings.files);
  check(settings.files, texts);
  let reported = "";
  return () => {
    try {
      const next = readTexts(settings.files);
      if (Object.entries(next).some(([field, text]) => texts[field as keyof Texts] !== text))
        check(settings.files, next);
      texts = next;
      reported = "";
    } catch (error) {
      const { message } = error as Error;
      if (message !== reported)
        onError(new Error(`${message}; connections use what was there before`, { cause: error }));
      reported = message;
    }
    return { rejectUnauthorized: settings.rejectUnauthorized, ...texts };
  };
}

function readTexts(files: TlsSettings["files"]): Texts {
  const read = Object.entries(files).map(([field, file]) => {
    try {
      return [field, readFileSync(file, "utf8")];
    } catch (cause) {
      throw new Error(`${nameOf(files, field)} cannot be read`, { cause });
    }
  });
  return Object.fromEntries(read) as Texts;
}

/** @throws Error when a file has no certificate or key, or a key belongs to another certificate. */
function check(files: TlsSettings["files"], texts: Texts): void {
  try {
    // An empty file would be taken as a list of no authorities.
    if (texts.ca !== undefined) readCertificate(texts.ca);
  } catch (cause) {
    throw new Error(`${nameOf(files, "ca")} has no certificate in PEM`, { cause });
  }
  try {
    createSecureContext(texts);
  } catch (cause) {
    throw new Error(`${nameOf(files, "cert")} or its key cannot be used (${(cause as Error).message})`, { cause });
  }
}

/** @throws Error when the text does not begin with a certificate in PEM. */
const readCertificate = (text: string): X509Certificate => new X509Certificate(text);

function nameOf(files: TlsSettings["files"], field: string): string {
  const parameter = Object.entries(tlsFileParameters).find(([, each]) => each === field)?.[0];
  return `the file that DATABASE_URL names in ${parameter}, ${files[field as keyof Texts]},`;
}
