/** The database that test files copy; migrated, otherwise empty. */
export const templateDatabase = "tenantry_test_template";

/** The URL of another database of the same server. */
export function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}
