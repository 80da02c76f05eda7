/** The database that test files copy: migrated, but otherwise empty. */
export const templateDatabase = "tenantry_test_template";

/** Returns the URL of another database on the same server. */
export function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}
