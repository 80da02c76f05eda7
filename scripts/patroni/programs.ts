// The programs that a run needs and does not install.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";

export const postgresPrograms = "/usr/lib/postgresql/15/bin";

const needed = [
  { what: "PostgreSQL 15", isThere: () => existsSync(`${postgresPrograms}/postgres`), debian: "postgresql-15" },
  { what: "Patroni 2 or newer", isThere: () => runs("patroni"), debian: "patroni" },
  { what: "etcd 3.4 or newer", isThere: () => runs("etcd"), debian: "etcd-server" },
];

/** Returns what is missing, with the packages that have it; undefined if all is there. */
export function describeMissing(): string | undefined {
  const missing = needed.filter(({ isThere }) => !isThere());
  if (missing.length === 0) return undefined;
  return `${missing.map(({ what }) => what).join(" and ")} cannot be found. On Debian 12: apt-get install --no-install-recommends ${missing.map(({ debian }) => debian).join(" ")}. Their own services need not run: each run starts its own.`;
}

function runs(program: string): boolean {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
