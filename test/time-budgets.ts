/**
 * The seconds that the tests of each folder may take, by the folders and files in test/. They are what `npm test` prints at its end on
 * two free cores. A folder that exceeds its budget by more than that budget, and by more than half a minute, fails the run;
 * `judgeFolderTimes` takes slower machines into account.
 */
export const timeBudgets: Readonly<Record<string, number>> = {
  access: 390,
  api: 290,
  authzen: 1,
  changes: 18,
  cli: 60,
  command: 55,
  "config.test.ts": 1,
  database: 128,
  docs: 12,
  errors: 1,
  events: 75,
  examples: 4,
  filters: 14,
  http: 32,
  iam: 50,
  identity: 7,
  installation: 16,
  jobs: 72,
  "json-schema": 4,
  paths: 1,
  quotas: 12,
  resources: 118,
  rest: 72,
  rpc: 18,
  scheduling: 1,
  scripts: 8,
  "sign-in": 30,
  "standard-methods": 28,
  support: 8,
  timers: 1,
  validation: 3,
};
