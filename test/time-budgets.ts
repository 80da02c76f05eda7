/**
 * The seconds that the tests of each folder may take, by the folders and files in test/. They are what `npm test` prints at its end on
 * two free cores. A folder that takes more than twice as long fails the run; `judgeFolderTimes` takes slower machines into account.
 */
export const timeBudgets: Readonly<Record<string, number>> = {
  access: 339,
  api: 325,
  changes: 11,
  cli: 59,
  command: 43,
  "config.test.ts": 1,
  database: 111,
  docs: 11,
  filters: 6,
  http: 68,
  iam: 74,
  identity: 6,
  installation: 2,
  jobs: 59,
  paths: 1,
  resources: 133,
  rest: 72,
  rpc: 3,
  scripts: 13,
  "standard-methods": 22,
  support: 5,
  timers: 1,
  turns: 1,
  unary: 10,
};
