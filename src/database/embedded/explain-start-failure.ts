import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";

/**
 * Converts an error of the file system, initdb or PostgreSQL about `path` into an error with a remedy. All three use the
 * messages of the operating system, so the same patterns match them.
 */
export function explainStartFailure(doing: string, path: string, failure: unknown): EmbeddedPostgresError {
  if (failure instanceof EmbeddedPostgresError) return failure;
  const text = failure instanceof Error ? failure.message : String(failure);
  const options = { cause: failure };
  if (/no space left on device|disk quota exceeded/i.test(text)) {
    return new EmbeddedPostgresError("DISK_FULL", `The disk that holds ${path} is full (${doing}).`, options);
  }
  const nameless = /could not look up effective user ID (\d+)/.exec(text)?.[1];
  if (nameless !== undefined) return userWithoutName(Number(nameless), path, options);
  if (/permission denied|operation not permitted|read-only file system|\bEACCES\b|\bEPERM\b/i.test(text)) {
    const uid = process.geteuid?.();
    return directoryUnusable(`User id ${uid} may not use ${path} (${doing})`, options);
  }
  if (/not a directory|file already exists/i.test(text)) {
    return directoryUnusable(`${path} is not a directory (${doing})`, options);
  }
  // Node's error when it creates a directory with its parents on a read-only file system.
  if (/no such file or directory, mkdir/i.test(text)) {
    return directoryUnusable(`${path} cannot be created (${doing})`, options);
  }
  return new EmbeddedPostgresError("START_FAILED", `PostgreSQL failed in ${path} (${doing}): ${text}`, options);
}

/** The text of the failure is in its cause. */
function directoryUnusable(why: string, options: ErrorOptions): EmbeddedPostgresError {
  const message = `${why}. Set TENANTRY_DATA to a directory that the user can write to, or set DATABASE_URL.`;
  return new EmbeddedPostgresError("DIRECTORY_UNUSABLE", message, options);
}

export function userWithoutName(uid: number | undefined, path: string, options: ErrorOptions): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    "START_FAILED",
    `User id ${uid} has no name on this system, and PostgreSQL needs one for the database in ${path}. ` +
      `Add the user to /etc/passwd, start as another user, or set DATABASE_URL.`,
    options,
  );
}
