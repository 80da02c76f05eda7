import { createRequire } from "node:module";
import path from "node:path";

import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { hasCode } from "./has-code.ts";
import { commandToInstall, packageName, platforms } from "./npm-package.ts";

const instead = "set DATABASE_URL to the address of a PostgreSQL 15 or newer.";

export interface Host {
  readonly platform: string;
  readonly arch: string;
  /** Whether the C library is glibc. Only used on Linux. */
  readonly glibc: boolean;
}

/**
 * Returns the directory of the npm package with PostgreSQL for this host. A checkout installs it; who installs Tenantry as a package
 * installs it as well, or has another database.
 */
export function locateBinaries(host: Host = thisHost()): string {
  const name = packageName(host);
  if (host.platform === "win32") throw unsupported("does not run on Windows");
  if (host.platform === "linux" && !host.glibc) throw unsupported("needs glibc, and this system has another C library");
  if (!platforms.includes(`${host.platform}-${host.arch}`))
    throw unsupported(`does not run on ${host.platform}-${host.arch}`);
  try {
    return path.dirname(path.dirname(createRequire(import.meta.url).resolve(name)));
  } catch (cause) {
    if (!hasCode(cause, "MODULE_NOT_FOUND")) throw cause;
    throw new EmbeddedPostgresError(
      "NOT_INSTALLED",
      `The embedded PostgreSQL is not installed. Install it with\n  ${commandToInstall(name)}\nor ${instead}`,
    );
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

function unsupported(why: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError("UNSUPPORTED_PLATFORM", `The embedded PostgreSQL ${why}; ${instead}`);
}
