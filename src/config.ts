// Every setting, in one table: what it is for, what it takes and what it is when nothing is said. The only place that
// reads the environment.
import { EnvError, type Spec, type ValidatorSpec, cleanEnv, makeValidator } from "envalid";
import { registry } from "./catalog.ts";
import type { Limits } from "./resource/limits.ts";

/** A whole number within bounds. */
const integer = (min: number, max: number, spec: Spec<number> & { default: number; desc: string }) =>
  makeValidator<number>((input) => {
    const value = Number(input);
    if (/^\d+$/.test(input) && value >= min && value <= max) return value;
    throw new EnvError(`must be a whole number from ${min} to ${max}, got ${JSON.stringify(input)}`);
  })({ ...spec, desc: `${spec.desc} From ${min} to ${max}.` });

/** Requests a minute. */
const rate = (what: string) =>
  integer(0, 10_000_000, {
    default: 0,
    desc: `${what}, a minute. Each server process counts its own, so n of them let through up to n times as many. 0 for no limit.`,
  });

const text = (spec: Spec<string> & { default: string }) =>
  makeValidator<string>((input) => {
    if (input.trim() !== "") return input;
    throw new EnvError("must not be blank");
  })(spec);

const oneOf = <const Choices extends readonly string[]>(
  choices: Choices,
  spec: Spec<Choices[number]> & { default: Choices[number] },
) =>
  makeValidator<Choices[number]>((input) => {
    if (choices.includes(input)) return input;
    throw new EnvError(`must be one of ${choices.join(", ")}, got ${JSON.stringify(input)}`);
  })(spec);

/** Origins of pages, as browsers write them: `https://console.example.com`, with commas between them. */
const origins = makeValidator<readonly string[]>((input) => {
  const given = input.split(",").map((origin) => origin.trim());
  const wrong = given.find((origin) => origin !== "*" && !isOrigin(origin));
  if (input.trim() === "") return [];
  if (wrong === undefined) return given;
  const example = "https://console.example.com";
  throw new EnvError(`must be origins such as ${example} with commas between them, or *, got ${JSON.stringify(wrong)}`);
});

function isOrigin(given: string): boolean {
  return URL.canParse(given) && /^https?:/.test(given) && new URL(given).origin === given;
}

const databaseUrl = makeValidator<string>((input) => {
  if (URL.canParse(input) && /^postgres(ql)?:\/\//i.test(input)) return input;
  // The value may hold a password, so it is not repeated.
  throw new EnvError("must be a URL of the form postgres://user:password@host:5432/database");
});

const settings = {
  HOST: text({ default: "127.0.0.1", desc: "Address to listen on; 0.0.0.0 for all." }),
  PORT: integer(0, 65_535, { default: 8080, desc: "Port to listen on; 0 for any free one." }),
  DATABASE_URL: databaseUrl({
    default: undefined,
    desc: "PostgreSQL 15 or newer, as postgres://user:password@host:5432/database. Without it, a PostgreSQL of its own runs in the data directory.",
  }),
  TENANTRY_DATA: text({ default: "./data", desc: "Data directory: the operator's key and the embedded database." }),
  TENANTRY_LOG_LEVEL: oneOf(["fatal", "error", "warn", "info", "debug"], {
    default: "info",
    desc: "The least severe level that is logged: fatal, error, warn, info or debug.",
  }),
  TENANTRY_ACCESS_LOG: oneOf(["on", "off"], {
    default: "on",
    desc: "Whether to log a line for each request: on or off.",
  }),
  TENANTRY_CORS_ORIGINS: origins({
    default: undefined,
    desc: "Origins whose pages may call the service from a browser, with commas between them; * for all. Without it, none.",
  }),
  TENANTRY_MAX_BODY_BYTES: integer(1_024, 104_857_600, {
    default: 1_048_576,
    desc: "The largest request body, in bytes.",
  }),
  TENANTRY_MAX_HEADER_BYTES: integer(1_024, 1_048_576, {
    default: 16_384,
    desc: "The largest request head, in bytes.",
  }),
  TENANTRY_MAX_JSON_DEPTH: integer(1, 1_000, { default: 32, desc: "How deep JSON in a REST request may be nested." }),
  TENANTRY_REQUEST_TIMEOUT_MS: integer(100, 3_600_000, {
    default: 30_000,
    desc: "How long a request may take to arrive and be answered, in milliseconds.",
  }),
  TENANTRY_SHUTDOWN_GRACE_MS: integer(0, 3_600_000, {
    default: 10_000,
    desc: "How long requests in flight may go on when the server is told to stop, in milliseconds.",
  }),
  TENANTRY_RATE_READS_PER_CALLER: rate("Reads that a member may make, with all its API keys"),
  TENANTRY_RATE_WRITES_PER_CALLER: rate("Writes that a member may make, with all its API keys"),
  TENANTRY_RATE_READS_PER_ORG: rate("Reads that the members of an org may make together"),
  TENANTRY_RATE_WRITES_PER_ORG: rate("Writes that the members of an org may make together"),
  TENANTRY_RETENTION_DAYS: integer(0, 3_650, {
    default: 30,
    desc: "How long what is deleted can be brought back before it is removed for good, in days.",
  }),
  TENANTRY_PURGE_INTERVAL_MS: integer(100, 86_400_000, {
    default: 60_000,
    desc: "How often what is due is looked for and removed, in milliseconds.",
  }),
  ...limitSettings(),
  TENANTRY_ACCESS_MEMORY_MB: integer(16, 1_048_576, {
    default: 512,
    desc: "How much memory may go into what decides about access, in MiB; about 300 bytes a member are held.",
  }),
  TENANTRY_READ_CONNECTIONS: integer(1, 1_000, { default: 4, desc: "Database connections for reads." }),
  TENANTRY_WRITE_CONNECTIONS: integer(1, 1_000, { default: 10, desc: "Database connections for writes." }),
};

/** The settings of the limits that resources have. */
function limitSettings(): Record<string, ValidatorSpec<number>> {
  return Object.fromEntries(
    registry.definitions.flatMap(({ limit }) =>
      limit === undefined
        ? []
        : [[limit.variable, integer(1, limit.max, { default: limit.default, desc: limit.help })]],
    ),
  );
}

function readLimits(env: Readonly<Record<string, unknown>>): Limits {
  return Object.fromEntries(
    registry.definitions.flatMap(({ type, limit }) => (limit === undefined ? [] : [[type, env[limit.variable]]])),
  );
}

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly databaseUrl: string | undefined;
  readonly dataDirectory: string;
  readonly logLevel: "fatal" | "error" | "warn" | "info" | "debug";
  readonly accessLog: boolean;
  /** Empty for none; `*` stands for all. */
  readonly corsOrigins: readonly string[];
  readonly maxBodyBytes: number;
  readonly maxHeaderBytes: number;
  readonly maxJsonDepth: number;
  readonly requestTimeoutMs: number;
  readonly shutdownGraceMs: number;
  /** Requests a minute; 0 for no limit. So are the next three. */
  readonly rateReadsPerCaller: number;
  readonly rateWritesPerCaller: number;
  readonly rateReadsPerOrg: number;
  readonly rateWritesPerOrg: number;
  /** How long what is deleted can be brought back. */
  readonly retentionDays: number;
  /** How often what is due is looked for and removed. */
  readonly purgeIntervalMs: number;
  /** How many of each resource there may be in one parent. */
  readonly limits: Limits;
  readonly accessMemoryBytes: number;
  readonly readConnections: number;
  readonly writeConnections: number;
}

/** One or more settings are not what they should be; the message has a line for each. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** @throws ConfigError that names every variable that is wrong, and what it takes. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const env = readSettings(environment, settings);
  return {
    host: env.HOST,
    port: env.PORT,
    databaseUrl: env.DATABASE_URL,
    dataDirectory: env.TENANTRY_DATA,
    logLevel: env.TENANTRY_LOG_LEVEL,
    accessLog: env.TENANTRY_ACCESS_LOG === "on",
    corsOrigins: env.TENANTRY_CORS_ORIGINS ?? [],
    maxBodyBytes: env.TENANTRY_MAX_BODY_BYTES,
    maxHeaderBytes: env.TENANTRY_MAX_HEADER_BYTES,
    maxJsonDepth: env.TENANTRY_MAX_JSON_DEPTH,
    requestTimeoutMs: env.TENANTRY_REQUEST_TIMEOUT_MS,
    shutdownGraceMs: env.TENANTRY_SHUTDOWN_GRACE_MS,
    rateReadsPerCaller: env.TENANTRY_RATE_READS_PER_CALLER,
    rateWritesPerCaller: env.TENANTRY_RATE_WRITES_PER_CALLER,
    rateReadsPerOrg: env.TENANTRY_RATE_READS_PER_ORG,
    rateWritesPerOrg: env.TENANTRY_RATE_WRITES_PER_ORG,
    retentionDays: env.TENANTRY_RETENTION_DAYS,
    purgeIntervalMs: env.TENANTRY_PURGE_INTERVAL_MS,
    limits: readLimits(env),
    accessMemoryBytes: env.TENANTRY_ACCESS_MEMORY_MB * 1_048_576,
    readConnections: env.TENANTRY_READ_CONNECTIONS,
    writeConnections: env.TENANTRY_WRITE_CONNECTIONS,
  };
}

/** What the commands read that are clients of a service. */
const clientSettings = {
  TENANTRY_URL: text({ default: "http://localhost:8080", desc: "For commands that call a service: where it is." }),
  TENANTRY_API_KEY: makeValidator<string>((input) => input)({
    default: undefined,
    desc: "For commands that call a service: the API key, in place of operator-key in the data directory.",
  }),
};

export interface ClientConfig {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly dataDirectory: string;
}

/** @throws ConfigError, as `readConfig` does. */
export function readClientConfig(environment: Readonly<Record<string, string | undefined>>): ClientConfig {
  const env = readSettings(environment, { ...clientSettings, TENANTRY_DATA: settings.TENANTRY_DATA });
  return { url: env.TENANTRY_URL, apiKey: env.TENANTRY_API_KEY, dataDirectory: env.TENANTRY_DATA };
}

function readSettings<Specs extends Record<string, ValidatorSpec<unknown>>>(
  environment: Readonly<Record<string, string | undefined>>,
  specs: Specs,
) {
  const problems = unknownVariables(environment);
  const env = cleanEnv(environment, specs, {
    reporter: ({ errors }) => {
      for (const [variable, error] of Object.entries<Error | undefined>(errors))
        problems.push(`${variable} ${error?.message}`);
    },
  });
  if (problems.length > 0) throw new ConfigError(problems.join("\n"));
  return env;
}

/** A mistyped setting would be passed over without a word otherwise. */
function unknownVariables(environment: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(environment)
    .filter(
      (name) => name.startsWith("TENANTRY_") && !Object.hasOwn(settings, name) && !Object.hasOwn(clientSettings, name),
    )
    .map((name) => `${name} is not a setting; "tenantry --help" lists them`);
}

/** The table of settings for `--help`. */
export function describeSettings(): string {
  const lines = Object.entries({ ...settings, ...clientSettings }).map(([name, spec]) => {
    const { desc = "", default: standard } = spec as Spec<string | number>;
    return `  ${name.padEnd(32)} ${desc}${standard === undefined ? "" : ` Default: ${String(standard)}`}`;
  });
  return `Settings, from the environment:\n${lines.join("\n")}\n`;
}
