/** The database that test files copy: migrated, but otherwise empty. */
export const templateDatabase = "tenantry_test_template";

/** Returns the URL of another database on the same server. */
export function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

/** Returns the same URL for a service whose calls wait longer for a connection: to start a process of PostgreSQL may take seconds on busy cores. */
export function waitingLonger(text: string): string {
  const url = new URL(text);
  url.searchParams.set("connect_timeout", "30");
  return url.href;
}
