// The settings of the service: their environment variables, validation, defaults and help texts. Only this file reads the
// environment.
import { type Spec, type ValidatorSpec } from "envalid";
import { type ClientConfig, clientSettings } from "./client-settings.ts";
import { type DatabaseConfig, databaseSettings, readDatabaseConfig } from "./database-settings.ts";
import { readSettings } from "./read-settings.ts";
import { type MailConfig, mailSettings, readMailConfig } from "./mail-settings.ts";
import { registry } from "./resource-registry.ts";
import type { RateLimits } from "./rpc/limits/rate-limits.ts";
import {
  file,
  integer,
  issuer,
  networks,
  oneOf,
  origins,
  port,
  rate,
  streams,
  subnets,
  text,
} from "./setting-types.ts";
import { type TraceConfig, readTraceConfig, traceSettings } from "./trace-settings.ts";
import type { Limits } from "./standard-methods/definition/limits.ts";

const settings = {
  HOST: text({ default: "127.0.0.1", desc: "Address to listen on; 0.0.0.0 for all." }),
  PORT: integer(0, 65_535, { default: 8080, desc: "Port to listen on; 0 for any free one." }),
  ...databaseSettings,
  TENANTRY_DATA: text({ default: "./data", desc: "Data directory: the operator's key, database, access snapshots." }),
  TENANTRY_LOG_LEVEL: oneOf(["fatal", "error", "warn", "info", "debug"], {
    default: "info",
    desc: "The least severe level that is logged: fatal, error, warn, info or debug.",
  }),
  TENANTRY_ACCESS_LOG: oneOf(["on", "off"], {
    default: "on",
    desc: "Whether to log a line for each request: on or off.",
  }),
  TENANTRY_METRICS_PORT: port({
    default: undefined,
    desc: "Port at which /metrics is served for Prometheus, without credentials; 0 for any free one. From 0 to 65535. If unset, none.",
  }),
  TENANTRY_METRICS_HOST: text({ default: "127.0.0.1", desc: "Address at which /metrics is served; 0.0.0.0 for all." }),
  TENANTRY_CORS_ORIGINS: origins({
    default: undefined,
    desc: "Comma-separated origins whose pages may call the service from a browser; * for all. If unset, none.",
  }),
  TENANTRY_TRUSTED_PROXIES: subnets({
    default: undefined,
    desc: "Comma-separated addresses or subnets of proxies whose X-Forwarded-For is believed, and who decide what is traced, such as 10.0.0.0/8. If unset, none.",
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
  TENANTRY_SHUTDOWN_DELAY_MS: integer(0, 3_600_000, {
    default: 5_000,
    desc: "How long the server reports that it is not ready, after SIGTERM, before it stops accepting requests, in milliseconds.",
  }),
  TENANTRY_SHUTDOWN_GRACE_MS: integer(0, 3_600_000, {
    default: 10_000,
    desc: "How long requests in flight may continue after the server is asked to stop, in milliseconds.",
  }),
  TENANTRY_CLIENT_CONNECTIONS: integer(10, 1_000_000, {
    default: 10_000,
    desc: "Maximum connections of clients. Further ones are closed.",
  }),
  TENANTRY_CONNECTIONS_PER_ADDRESS: integer(1, 1_000_000, {
    default: 2_000,
    desc: "Maximum connections of one address, or /64 of IPv6, which is no trusted proxy. Further ones are closed.",
  }),
  TENANTRY_REQUESTS_PER_ADDRESS: integer(1, 1_000_000, {
    default: 1_000,
    desc: "Maximum requests in flight of one address, or /64 of IPv6, also behind trusted proxies.",
  }),
  TENANTRY_ANONYMOUS_PER_ADDRESS: integer(0, 1_000_000, {
    default: 1_000,
    desc: "Requests a second of one address, or /64 of IPv6, whose callers are not known or exceed their rates. Further ones wait. 0 for no limit.",
  }),
  TENANTRY_STREAMS_PER_ADDRESS: integer(10, 1_000, {
    default: 100,
    desc: "Maximum health Watches of one address, or /64 of IPv6, that are open at once. A stream of gRPC reflection counts as ten.",
  }),
  TENANTRY_RATE_READS_PER_CALLER: rate("Maximum reads per minute by a member, with all its API keys together", 300_000),
  TENANTRY_RATE_WRITES_PER_CALLER: rate(
    "Maximum writes per minute by a member, with all its API keys together",
    60_000,
  ),
  TENANTRY_RATE_READS_PER_ORG: rate("Maximum reads per minute by the members of an org together", 600_000),
  TENANTRY_RATE_WRITES_PER_ORG: rate("Maximum writes per minute by the members of an org together", 120_000),
  TENANTRY_CALLS_PER_CALLER: integer(0, 1_000_000, {
    default: 1_000,
    desc: "Maximum calls at once by a member, for each server process. 0 for no limit.",
  }),
  TENANTRY_CALLS_PER_ORG: integer(0, 1_000_000, {
    default: 2_000,
    desc: "Maximum calls at once by the members of an org together, for each server process. 0 for no limit.",
  }),
  TENANTRY_STREAMS_PER_CALLER: streams("Maximum streams of changes that a member has open", 100),
  TENANTRY_RETENTION_DAYS: integer(0, 3_650, {
    default: 30,
    desc: "How long deleted resources can be undeleted before they are removed permanently, in days.",
  }),
  TENANTRY_PURGE_INTERVAL_MS: integer(100, 86_400_000, {
    default: 60_000,
    desc: "The longest time until a server looks for what has ended or is past its purge time, in milliseconds. What a server knows of, it removes when that time comes.",
  }),
  TENANTRY_CHANGE_LOG_DAYS: integer(31, 36_500, {
    default: 400,
    desc: "How long the change log keeps its entries, in days. It is removed by whole months.",
  }),
  TENANTRY_HELD_LOG_DAYS: integer(0, 36_500, {
    default: 90,
    desc: "How much longer the change log is kept for webhooks with hold_retention that have not delivered it, in days.",
  }),
  ...limitSettings(),
  ...traceSettings,
  TENANTRY_ACCESS_MEMORY_MB: integer(16, 1_048_576, {
    default: 512,
    desc: "Maximum memory for the snapshots that decide access, in MiB, and an eighth more for those of the past; a member takes about 200 bytes.",
  }),
  TENANTRY_ACCESS_DISK_MB: integer(0, 1_048_576, {
    default: 1_024,
    desc: "Maximum size of the files, in the data directory, with snapshots of large orgs, which need not be read again after a restart, in MiB; 0 for no files.",
  }),
  TENANTRY_ANSWER_MEMORY_MB: integer(0, 1_048_576, {
    default: 64,
    desc: "Maximum memory for responses to reads that are reused until their org changes, in MiB; 0 to keep none.",
  }),
  TENANTRY_STALE_CHECKS_SECONDS: integer(0, 86_400, {
    default: 0,
    desc: "How old, in seconds, the answer to a check with max_staleness may be while the database cannot be reached; 0 for none.",
  }),
  TENANTRY_ISSUER: issuer({
    default: undefined,
    desc: "The URL of the service as its clients know it, such as https://iam.example.com: the issuer and audience of its tokens. Servers on one database need the same. If unset, http://localhost and the port.",
  }),
  TENANTRY_TOKEN_ALGORITHM: oneOf(["ES256", "RS256", "EdDSA"], {
    default: "ES256",
    desc: "The algorithm that signs tokens: ES256, RS256 or EdDSA.",
  }),
  TENANTRY_TOKEN_LIFE_SECONDS: integer(1, 43_200, {
    default: 3_600,
    desc: "How long tokens live unless the request says otherwise, in seconds.",
  }),
  TENANTRY_SESSION_DAYS: integer(1, 3_650, {
    default: 30,
    desc: "How long a session lives, in which a client can refresh its tokens, in days.",
  }),
  TENANTRY_SIGNING_KEY_DAYS: integer(2, 3_650, {
    default: 30,
    desc: "How long a key signs tokens before the next one replaces it, in days.",
  }),
  TENANTRY_SECRET_KEYS_FILE: file({
    default: undefined,
    desc: "File with the keys that encrypt secrets in the database: 32 bytes in base64 on each line; the first encrypts, all decrypt. If unset, secret-keys in the data directory, which is created.",
  }),
  TENANTRY_IDENTITY_PROVIDER_NETWORKS: networks("at which the identity providers of orgs may be"),
  TENANTRY_WEBHOOK_NETWORKS: networks("to which webhooks of orgs may deliver"),
  ...mailSettings,
};

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

export interface Config extends RateLimits, MailConfig, DatabaseConfig {
  readonly host: string;
  readonly port: number;
  readonly dataDirectory: string;
  readonly logLevel: "fatal" | "error" | "warn" | "info" | "debug";
  readonly accessLog: boolean;
  readonly metricsHost: string;
  /** Undefined for no metrics. */
  readonly metricsPort: number | undefined;
  /** Empty for none; `*` for all. */
  readonly corsOrigins: readonly string[];
  /** The addresses and subnets of proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  readonly maxBodyBytes: number;
  readonly maxHeaderBytes: number;
  readonly maxJsonDepth: number;
  readonly requestTimeoutMs: number;
  readonly shutdownDelayMs: number;
  readonly shutdownGraceMs: number;
  readonly clientConnections: number;
  readonly connectionsPerAddress: number;
  readonly requestsPerAddress: number;
  /** Requests in a second whose callers are not known; 0 for no limit. */
  readonly anonymousPerAddress: number;
  /** The maximum number of open streams that need no credentials. */
  readonly streamsPerAddress: number;
  /** Calls at once; 0 for no limit. */
  readonly callsPerCaller: number;
  readonly callsPerOrg: number;
  readonly streamsPerCaller: number;
  /** The number of days during which a deleted resource can be undeleted. */
  readonly retentionDays: number;
  /** The interval at which expired and purged resources are removed. */
  readonly purgeIntervalMs: number;
  readonly changeLogDays: number;
  /** How many days longer it is kept for webhooks. */
  readonly heldLogDays: number;
  /** The maximum number of each resource in one parent. */
  readonly limits: Limits;
  readonly accessMemoryBytes: number;
  readonly accessDiskBytes: number;
  readonly answerMemoryBytes: number;
  /** How old the answer to a check may be while the database is away; 0 for none. */
  readonly staleChecksMs: number;
  /** Undefined for `http://localhost` and the port. */
  readonly issuer: string | undefined;
  readonly tokenAlgorithm: "ES256" | "RS256" | "EdDSA";
  readonly tokenLifeSeconds: number;
  readonly sessionDays: number;
  readonly signingKeyDays: number;
  readonly secretKeysFile: string | undefined;
  /** The prefixes, in canonical form, at which identity providers may be besides public addresses. */
  readonly identityProviderNetworks: readonly string[];
  /** The same of the receivers of webhooks. */
  readonly webhookNetworks: readonly string[];
  /** Undefined for no traces. */
  readonly traces: TraceConfig | undefined;
}

/** @throws ConfigError that names every invalid variable and its valid values. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const env = readSettings(environment, settings, known);
  return {
    host: env.HOST,
    port: env.PORT,
    dataDirectory: env.TENANTRY_DATA,
    logLevel: env.TENANTRY_LOG_LEVEL,
    accessLog: env.TENANTRY_ACCESS_LOG === "on",
    metricsHost: env.TENANTRY_METRICS_HOST,
    metricsPort: env.TENANTRY_METRICS_PORT,
    corsOrigins: env.TENANTRY_CORS_ORIGINS ?? [],
    trustedProxies: env.TENANTRY_TRUSTED_PROXIES ?? [],
    maxBodyBytes: env.TENANTRY_MAX_BODY_BYTES,
    maxHeaderBytes: env.TENANTRY_MAX_HEADER_BYTES,
    maxJsonDepth: env.TENANTRY_MAX_JSON_DEPTH,
    requestTimeoutMs: env.TENANTRY_REQUEST_TIMEOUT_MS,
    shutdownDelayMs: env.TENANTRY_SHUTDOWN_DELAY_MS,
    shutdownGraceMs: env.TENANTRY_SHUTDOWN_GRACE_MS,
    clientConnections: env.TENANTRY_CLIENT_CONNECTIONS,
    connectionsPerAddress: env.TENANTRY_CONNECTIONS_PER_ADDRESS,
    requestsPerAddress: env.TENANTRY_REQUESTS_PER_ADDRESS,
    anonymousPerAddress: env.TENANTRY_ANONYMOUS_PER_ADDRESS,
    streamsPerAddress: env.TENANTRY_STREAMS_PER_ADDRESS,
    rateReadsPerCaller: env.TENANTRY_RATE_READS_PER_CALLER,
    rateWritesPerCaller: env.TENANTRY_RATE_WRITES_PER_CALLER,
    rateReadsPerOrg: env.TENANTRY_RATE_READS_PER_ORG,
    rateWritesPerOrg: env.TENANTRY_RATE_WRITES_PER_ORG,
    callsPerCaller: env.TENANTRY_CALLS_PER_CALLER,
    callsPerOrg: env.TENANTRY_CALLS_PER_ORG,
    streamsPerCaller: env.TENANTRY_STREAMS_PER_CALLER,
    retentionDays: env.TENANTRY_RETENTION_DAYS,
    purgeIntervalMs: env.TENANTRY_PURGE_INTERVAL_MS,
    changeLogDays: env.TENANTRY_CHANGE_LOG_DAYS,
    heldLogDays: env.TENANTRY_HELD_LOG_DAYS,
    limits: readLimits(env),
    accessMemoryBytes: env.TENANTRY_ACCESS_MEMORY_MB * 1_048_576,
    accessDiskBytes: env.TENANTRY_ACCESS_DISK_MB * 1_048_576,
    answerMemoryBytes: env.TENANTRY_ANSWER_MEMORY_MB * 1_048_576,
    staleChecksMs: env.TENANTRY_STALE_CHECKS_SECONDS * 1_000,
    issuer: env.TENANTRY_ISSUER,
    tokenAlgorithm: env.TENANTRY_TOKEN_ALGORITHM,
    tokenLifeSeconds: env.TENANTRY_TOKEN_LIFE_SECONDS,
    sessionDays: env.TENANTRY_SESSION_DAYS,
    signingKeyDays: env.TENANTRY_SIGNING_KEY_DAYS,
    secretKeysFile: env.TENANTRY_SECRET_KEYS_FILE,
    identityProviderNetworks: env.TENANTRY_IDENTITY_PROVIDER_NETWORKS ?? [],
    webhookNetworks: env.TENANTRY_WEBHOOK_NETWORKS ?? [],
    ...readMailConfig(env),
    ...readDatabaseConfig(env),
    traces: readTraceConfig(env),
  };
}

/** @throws ConfigError, as `readConfig` does. */
export function readClientConfig(environment: Readonly<Record<string, string | undefined>>): ClientConfig {
  const env = readSettings(environment, { ...clientSettings, TENANTRY_DATA: settings.TENANTRY_DATA }, known);
  return { url: env.TENANTRY_URL, apiKey: env.TENANTRY_API_KEY, dataDirectory: env.TENANTRY_DATA };
}

const known = { ...settings, ...clientSettings };

export function describeSettings(): string {
  const lines = Object.entries(known).map(([name, spec]) => {
    const { desc = "", default: standard } = spec as Spec<string | number>;
    return `  ${name.padEnd(32)} ${desc}${standard === undefined ? "" : ` Default: ${String(standard)}`}`;
  });
  return `Settings, from the environment:\n${lines.join("\n")}\n`;
}
