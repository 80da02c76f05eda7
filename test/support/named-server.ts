/** Whether the tests run on a PostgreSQL server that is named, and not on the embedded one. */
export const isOnNamedServer = process.env["TEST_DATABASE_URL"] !== undefined;
