import { createRequire } from "node:module";
import path from "node:path";

import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";

export interface Host {
  readonly platform: string;
  readonly arch: string;
  /** Whether the C library is glibc. Only used on Linux. */
  readonly glibc: boolean;
}

/**
 * Returns the directory of the npm package with PostgreSQL for this host. The packages are optional dependencies, of which npm
 * installs the one that matches the host. A missing package means an unsupported host or an incomplete installation.
 */
export function locateBinaries(host: Host = thisHost()): string {
  const name = `@embedded-postgres/${host.platform}-${host.arch}`;
  if (host.platform === "win32") throw unsupported("does not run on Windows");
  if (host.platform === "linux" && !host.glibc) throw unsupported("needs glibc, and this system has another C library");
  try {
    return path.dirname(path.dirname(createRequire(import.meta.url).resolve(name)));
  } catch (cause) {
    throw unsupported(`needs the package ${name}, which is not installed (or does not exist for this platform)`, cause);
  }
}

function thisHost(): Host {
  return { platform: process.platform, arch: process.arch, glibc: hasGlibc() };
}

function hasGlibc(): boolean {
  // Otherwise the report looks up the names of all socket peers, which can take seconds.
  Object.assign(process.report, { excludeNetwork: true });
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime !== undefined;
}

function unsupported(why: string, cause?: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    "UNSUPPORTED_PLATFORM",
    `The embedded PostgreSQL ${why}. Set DATABASE_URL to the address of a PostgreSQL 15 or newer.`,
    { cause },
  );
}
