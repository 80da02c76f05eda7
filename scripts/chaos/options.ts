import { Command, InvalidArgumentError } from "commander";

export interface Options {
  readonly seconds: number;
  /** How long the load runs before anything is hostile or killed, in seconds. */
  readonly quietSeconds: number;
  readonly orgs: number;
  readonly seed: number;
  /** In seconds. */
  readonly killEvery: number;
  /** In seconds. */
  readonly failoverEvery: number;
  readonly soak: boolean;
  /** Whether PgBouncer is between the servers and the database. */
  readonly pooler: boolean;
  /** How many times its quiet p99 a quiet org may take. */
  readonly latencyFactor: number;
  /** The p99 that is always allowed, in milliseconds. */
  readonly latencyFloor: number;
  readonly enforceLatency: boolean;
}

const integer = (text: string): number => {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new InvalidArgumentError("must be an integer from 1.");
};

/** Reads the arguments of the command line. */
export function readOptions(args: readonly string[]): Options {
  const command = new Command("npm run chaos --")
    .description(
      "Runs three servers, HAProxy and two databases under load, kills and silences them, and checks what they have answered.",
    )
    .option("--seconds <n>", "how long things are killed; with --soak, how long the load runs", integer)
    .option("--quiet-seconds <n>", "how long the load runs before", integer)
    .option("--orgs <n>", "orgs that write and read, besides the hostile one", integer, 30)
    .option("--seed <n>", "the seed of everything that is random", integer)
    .option("--kill-every <n>", "seconds between kills and silent connections", integer, 10)
    .option("--failover-every <n>", "seconds between failovers of the database", integer, 60)
    .option("--soak", "kill nothing; watch memory, handles and connections", false)
    .option("--pooler", "put PgBouncer in front of the database, in transaction mode", false)
    // Three servers, two databases, HAProxy and all callers share the cores of one machine, where a factor of 3 says more about its
    // scheduler than about the service. On a machine of its own with eight cores, ask for 3 and 50.
    .option("--latency-factor <n>", "how many times its quiet p99 a quiet org may take", integer, 10)
    .option("--latency-floor <n>", "the p99 in milliseconds that is always allowed", integer, 1_000)
    .option("--no-enforce-latency", "print the latencies, but do not fail")
    .parse(args, { from: "user" });
  const given = command.opts<Omit<Options, "seconds" | "quietSeconds" | "seed"> & Partial<Options>>();
  const seconds = given.seconds ?? (given.soak ? 600 : 300);
  return {
    ...given,
    seconds,
    quietSeconds: given.quietSeconds ?? Math.max(8, Math.round(seconds / 10)),
    seed: given.seed ?? Math.floor(Math.random() * 2 ** 31) + 1,
  };
}
