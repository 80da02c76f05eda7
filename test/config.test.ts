import { describe, expect, test } from "vitest";
import { registry } from "../src/resource-registry.ts";
import { describeSettings, readClientConfig, readConfig } from "../src/config.ts";
import { ConfigError } from "../src/read-settings.ts";

/** The resources with a limit. */
const limited = registry.definitions.flatMap(({ type, limit }) => (limit === undefined ? [] : [{ type, limit }]));

const defaults = {
  host: "127.0.0.1",
  port: 8080,
  databaseUrl: undefined,
  migrationDatabaseUrl: undefined,
  dataDirectory: "./data",
  logLevel: "info",
  accessLog: true,
  metricsHost: "127.0.0.1",
  metricsPort: undefined,
  corsOrigins: [],
  trustedProxies: [],
  maxBodyBytes: 1_048_576,
  maxHeaderBytes: 16_384,
  maxJsonDepth: 32,
  requestTimeoutMs: 30_000,
  shutdownDelayMs: 5_000,
  shutdownGraceMs: 10_000,
  clientConnections: 10_000,
  connectionsPerAddress: 2_000,
  requestsPerAddress: 1_000,
  anonymousPerAddress: 1_000,
  staleChecksMs: 0,
  streamsPerAddress: 100,
  retentionDays: 30,
  changeLogDays: 400,
  heldLogDays: 90,
  purgeIntervalMs: 60_000,
  rateReadsPerCaller: 300_000,
  rateWritesPerCaller: 60_000,
  rateReadsPerOrg: 600_000,
  rateWritesPerOrg: 120_000,
  callsPerCaller: 1_000,
  callsPerOrg: 2_000,
  streamsPerCaller: 100,
  limits: Object.fromEntries(limited.map(({ type, limit }) => [type, limit.default])),
  accessMemoryBytes: 512 * 1_048_576,
  accessDiskBytes: 1_024 * 1_048_576,
  answerMemoryBytes: 64 * 1_048_576,
  issuer: undefined,
  tokenAlgorithm: "ES256",
  tokenLifeSeconds: 3_600,
  sessionDays: 30,
  signingKeyDays: 30,
  secretKeysFile: undefined,
  identityProviderNetworks: [],
  webhookNetworks: [],
  mail: undefined,
  invitationMailsPerHour: 100,
  preparedStatements: "on",
  readConnections: 4,
  writeConnections: 10,
  traces: undefined,
};

/** All integer settings, with their bounds. */
const integers = [
  ["PORT", "port", 0, 65_535],
  ["TENANTRY_MAX_BODY_BYTES", "maxBodyBytes", 1_024, 104_857_600],
  ["TENANTRY_MAX_HEADER_BYTES", "maxHeaderBytes", 1_024, 1_048_576],
  ["TENANTRY_MAX_JSON_DEPTH", "maxJsonDepth", 1, 1_000],
  ["TENANTRY_REQUEST_TIMEOUT_MS", "requestTimeoutMs", 100, 3_600_000],
  ["TENANTRY_SHUTDOWN_DELAY_MS", "shutdownDelayMs", 0, 3_600_000],
  ["TENANTRY_SHUTDOWN_GRACE_MS", "shutdownGraceMs", 0, 3_600_000],
  ["TENANTRY_RETENTION_DAYS", "retentionDays", 0, 3_650],
  ["TENANTRY_CHANGE_LOG_DAYS", "changeLogDays", 31, 36_500],
  ["TENANTRY_HELD_LOG_DAYS", "heldLogDays", 0, 36_500],
  ["TENANTRY_PURGE_INTERVAL_MS", "purgeIntervalMs", 100, 86_400_000],
  ["TENANTRY_CLIENT_CONNECTIONS", "clientConnections", 10, 1_000_000],
  ["TENANTRY_CONNECTIONS_PER_ADDRESS", "connectionsPerAddress", 1, 1_000_000],
  ["TENANTRY_REQUESTS_PER_ADDRESS", "requestsPerAddress", 1, 1_000_000],
  ["TENANTRY_ANONYMOUS_PER_ADDRESS", "anonymousPerAddress", 0, 1_000_000],
  ["TENANTRY_STREAMS_PER_ADDRESS", "streamsPerAddress", 10, 1_000],
  ["TENANTRY_RATE_READS_PER_CALLER", "rateReadsPerCaller", 0, 10_000_000],
  ["TENANTRY_RATE_WRITES_PER_CALLER", "rateWritesPerCaller", 0, 10_000_000],
  ["TENANTRY_RATE_READS_PER_ORG", "rateReadsPerOrg", 0, 10_000_000],
  ["TENANTRY_RATE_WRITES_PER_ORG", "rateWritesPerOrg", 0, 10_000_000],
  ["TENANTRY_CALLS_PER_CALLER", "callsPerCaller", 0, 1_000_000],
  ["TENANTRY_CALLS_PER_ORG", "callsPerOrg", 0, 1_000_000],
  ["TENANTRY_STREAMS_PER_CALLER", "streamsPerCaller", 1, 100_000],
  ["TENANTRY_TOKEN_LIFE_SECONDS", "tokenLifeSeconds", 1, 43_200],
  ["TENANTRY_SESSION_DAYS", "sessionDays", 1, 3_650],
  ["TENANTRY_SIGNING_KEY_DAYS", "signingKeyDays", 2, 3_650],
  ["TENANTRY_INVITATION_MAILS_PER_HOUR", "invitationMailsPerHour", 1, 10_000],
  ["TENANTRY_READ_CONNECTIONS", "readConnections", 1, 1_000],
  ["TENANTRY_WRITE_CONNECTIONS", "writeConnections", 1, 1_000],
] as const;

/** All limits of resources, with their bounds. */
const limits = limited.map(({ type, limit }) => [limit.variable, type, 1, limit.max] as const);

/** All other settings, each with a valid value and its parsed form. */
const others = [
  ["HOST", "host", "0.0.0.0", "0.0.0.0"],
  ["TENANTRY_METRICS_HOST", "metricsHost", "::", "::"],
  ["TENANTRY_METRICS_PORT", "metricsPort", "0", 0],
  ["DATABASE_URL", "databaseUrl", "postgres://me:secret@[::1]:5432/iam", "postgres://me:secret@[::1]:5432/iam"],
  ["TENANTRY_DATA", "dataDirectory", "/var/lib/tenantry", "/var/lib/tenantry"],
  ["TENANTRY_LOG_LEVEL", "logLevel", "debug", "debug"],
  ["TENANTRY_ACCESS_LOG", "accessLog", "off", false],
  ["TENANTRY_PREPARED_STATEMENTS", "preparedStatements", "pooled", "pooled"],
  ["TENANTRY_ACCESS_MEMORY_MB", "accessMemoryBytes", "64", 64 * 1_048_576],
  ["TENANTRY_ACCESS_DISK_MB", "accessDiskBytes", "0", 0],
  ["TENANTRY_ANSWER_MEMORY_MB", "answerMemoryBytes", "0", 0],
  ["TENANTRY_STALE_CHECKS_SECONDS", "staleChecksMs", "3600", 3_600_000],
  ["TENANTRY_ISSUER", "issuer", "https://iam.example.com", "https://iam.example.com"],
  ["TENANTRY_TOKEN_ALGORITHM", "tokenAlgorithm", "EdDSA", "EdDSA"],
  ["TENANTRY_SECRET_KEYS_FILE", "secretKeysFile", "/run/secrets/keys", "/run/secrets/keys"],
  [
    "TENANTRY_IDENTITY_PROVIDER_NETWORKS",
    "identityProviderNetworks",
    "127.0.0.1, ::FFFF:10.1.0.0/112",
    ["127.0.0.1/32", "10.1.0.0/16"],
  ],
  ["TENANTRY_WEBHOOK_NETWORKS", "webhookNetworks", "127.0.0.1", ["127.0.0.1/32"]],
  ["TENANTRY_TRUSTED_PROXIES", "trustedProxies", "10.0.0.0/8, ::1, loopback", ["10.0.0.0/8", "::1", "loopback"]],
  ["TENANTRY_CORS_ORIGINS", "corsOrigins", "https://a.example, http://b:81", ["https://a.example", "http://b:81"]],
] as const;

/** Returns the error message for an invalid environment. */
function refusal(environment: Record<string, string>): string {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error("the environment was taken");
}

describe("settings", () => {
  test("have defaults", () => {
    expect(readConfig({})).toEqual(defaults);
    expect(readConfig({ HOST: undefined, PORT: undefined })).toEqual(defaults);
  });

  test("limit resources with these variables, defaults and bounds", () => {
    const lines = limited.map(({ limit }) => `${limit.variable} ${limit.default} of ${limit.max}`);
    expect(`\n${lines.join("\n")}\n`).toMatchInlineSnapshot(`
      "
      TENANTRY_MAX_ORGS_PER_CUSTOMER 100 of 1000000
      TENANTRY_MAX_PROJECTS_PER_ORG 10000 of 10000000
      TENANTRY_MAX_MEMBERS_PER_ORG 1000000 of 100000000
      TENANTRY_MAX_API_KEYS_PER_MEMBER 100 of 100000
      TENANTRY_MAX_CLIENTS_PER_ORG 1000 of 1000000
      TENANTRY_MAX_IDENTITY_PROVIDERS_PER_ORG 100 of 1000
      TENANTRY_MAX_IDENTITIES_PER_MEMBER 100 of 1000
      TENANTRY_MAX_SCIM_SOURCES_PER_ORG 10 of 1000
      TENANTRY_MAX_GROUPS_PER_ORG 100000 of 10000000
      TENANTRY_MAX_MEMBERS_PER_GROUP 1000000 of 100000000
      TENANTRY_MAX_SUBGROUPS_PER_GROUP 1000 of 1000000
      TENANTRY_MAX_ROLES_PER_ORG 1000 of 1000000
      TENANTRY_MAX_ROLE_BINDINGS_PER_ORG 1000000 of 100000000
      TENANTRY_MAX_CONTACTS_PER_ORG 20 of 1000
      TENANTRY_MAX_ACCESS_REQUESTS_PER_ORG 1000000 of 100000000
      TENANTRY_MAX_QUOTA_REQUESTS_PER_ORG 10000 of 1000000
      TENANTRY_MAX_WEBHOOKS_PER_ORG 20 of 1000
      TENANTRY_MAX_EVENT_STREAMS_PER_ORG 20 of 1000
      TENANTRY_MAX_RESOURCE_TYPES_PER_SERVICE 100 of 10000
      TENANTRY_MAX_RESOURCES_PER_PROJECT 10000 of 10000000
      "
    `);
  });

  test("ignore variables of other programs", () => {
    expect(readConfig({ PATH: "/bin", NODE_ENV: "production", PORTS: "x", tenantry_data: "x" })).toEqual(defaults);
    expect(readConfig({ TENANTRY_URL: "http://localhost", TENANTRY_API_KEY: "x", TENANTRY_ORG: "acme" })).toEqual(
      defaults,
    );
  });

  test.each(others)("are read from %s", (variable, field, value, expected) => {
    expect(readConfig({ [variable]: value })).toEqual({ ...defaults, [field]: expected });
  });

  test.each(integers)("are read from %s", (variable, field, min, max) => {
    expect(readConfig({ [variable]: String(min) })).toEqual({ ...defaults, [field]: min });
    expect(readConfig({ [variable]: String(max) })).toEqual({ ...defaults, [field]: max });
  });

  test.each(limits)("are read from %s", (variable, type, min, max) => {
    for (const value of [min, max]) {
      const expected = { ...defaults, limits: { ...defaults.limits, [type]: value } };
      expect(readConfig({ [variable]: String(value) })).toEqual(expected);
    }
  });

  test("are all tested here", () => {
    const named = [...integers, ...others].map(([, field]) => field);
    expect(new Set([...named, "limits", "mail", "migrationDatabaseUrl", "traces"])).toEqual(
      new Set(Object.keys(defaults)),
    );
    expect(new Set(limits.map(([, type]) => type))).toEqual(new Set(Object.keys(defaults.limits)));
  });
});

describe.each([...integers, ...limits])("%s", (variable, _field, min, max) => {
  const outside = [String(max + 1), ...(min > 0 ? [String(min - 1)] : []), "9".repeat(400)];
  const malformed = [
    "",
    " ",
    "-1",
    "+1",
    "1e3",
    "0x10",
    "2000.0",
    "2000.5",
    " 2000",
    "2000\n",
    "２０００",
    "many",
    "NaN",
  ];

  test.each([...outside, ...malformed])("rejects %j, and reports the bounds", (value) => {
    expect(refusal({ [variable]: value })).toBe(
      `${variable} must be a whole number from ${min} to ${max}, got ${JSON.stringify(value)}`,
    );
  });
});

describe("the mail server", () => {
  const from = "iam@example.com";

  test.each([
    "smtp://mail.example.com",
    "smtp://127.0.0.1:2525/",
    "smtps://me:p%40ss@mail.example.com:465",
    "smtp://me:secret@[::1]:587",
  ])("is taken from %s, with the sender", (url) => {
    const environment = { TENANTRY_SMTP_URL: url, TENANTRY_SMTP_FROM: from };
    expect(readConfig(environment)).toEqual({ ...defaults, mail: { url, from } });
  });

  test.each([
    "mail.example.com",
    "https://me:hunter2@mail.example.com",
    "smtp://",
    "smtp://hunter2@mail.example.com",
    "smtp://:hunter2@mail.example.com",
    "smtp://me:hunter2%zz@mail.example.com",
    "smtp://me:hunter2@mail.example.com/?tls=no",
    "smtp://me:hunter2@mail.example.com/x",
    "",
  ])("is not taken from %j, and the error does not repeat it", (url) => {
    const message = refusal({ TENANTRY_SMTP_URL: url, TENANTRY_SMTP_FROM: from });
    expect(message).toContain("TENANTRY_SMTP_URL must be a URL of the form smtp://user:password@host:587 or smtps://");
    expect(message).not.toContain("hunter2");
  });

  test.each(["iam", "IAM <iam@example.com>", "iam@example.com\nBcc: x@example.com", ""])(
    "has no sender %j",
    (sender) => {
      const message = refusal({ TENANTRY_SMTP_URL: "smtp://mail.example.com", TENANTRY_SMTP_FROM: sender });
      expect(message).toMatch(/^TENANTRY_SMTP_FROM must be an address such as iam@example\.com: /);
    },
  );

  test("is set with a sender, and no sender without it", () => {
    expect(refusal({ TENANTRY_SMTP_URL: "smtp://mail.example.com" })).toMatch(/^TENANTRY_SMTP_FROM must be set/);
    expect(refusal({ TENANTRY_SMTP_FROM: from })).toMatch(/^TENANTRY_SMTP_URL must be set/);
  });
});

describe("other settings", () => {
  test.each([
    ["HOST", "", "HOST must not be blank"],
    ["TENANTRY_METRICS_PORT", "65536", 'TENANTRY_METRICS_PORT must be a whole number from 0 to 65535, got "65536"'],
    ["HOST", "  ", "HOST must not be blank"],
    ["TENANTRY_DATA", "", "TENANTRY_DATA must not be blank"],
    ["TENANTRY_LOG_LEVEL", "loud", 'TENANTRY_LOG_LEVEL must be one of fatal, error, warn, info, debug, got "loud"'],
    ["TENANTRY_LOG_LEVEL", "INFO", 'TENANTRY_LOG_LEVEL must be one of fatal, error, warn, info, debug, got "INFO"'],
    ["TENANTRY_ACCESS_LOG", "true", 'TENANTRY_ACCESS_LOG must be one of on, off, got "true"'],
    ["TENANTRY_ACCESS_LOG", "", 'TENANTRY_ACCESS_LOG must be one of on, off, got ""'],
    ...["https://a.example/", "a.example", "https://a.example/x", "ftp://a.example", "null", "https://a.example,"].map(
      (value): [string, string, string] => [
        "TENANTRY_CORS_ORIGINS",
        value,
        `TENANTRY_CORS_ORIGINS must be comma-separated origins such as https://console.example.com, or *, got ${JSON.stringify(value.split(",").at(-1))}`,
      ],
    ),
    ...["10.0.0.0/33", "proxy.example", "10.0.0.1,,10.0.0.2"].map((value) => [
      "TENANTRY_TRUSTED_PROXIES",
      value,
      `TENANTRY_TRUSTED_PROXIES must be comma-separated addresses or subnets such as 10.0.0.0/8, got ${JSON.stringify(value.split(",").find((each) => !each.startsWith("10.0.0.1")))}`,
    ]),
  ])("%s rejects %j", (variable, value, message) => {
    expect(refusal({ [variable]: value })).toBe(message);
  });

  test.each(["postgres://localhost", "postgresql://me@db/iam?sslmode=require", "postgres://u@localhost/d?host=%2Ftmp"])(
    "DATABASE_URL takes %s",
    (url) => {
      expect(readConfig({ DATABASE_URL: url }).databaseUrl).toBe(url);
    },
  );

  test.each([
    "",
    "hunter2",
    "mysql://me:hunter2@db/iam",
    "postgres:hunter2@@:x:",
    "postgres:/hunter2",
    "//me:hunter2@db",
    "http://hunter2",
  ])("DATABASE_URL rejects an invalid URL without repeating it: %j", (url) => {
    const message = refusal({ DATABASE_URL: url });
    expect(message).toBe("DATABASE_URL must be a URL of the form postgres://user:password@host:5432/database");
    expect(message).not.toContain("hunter2");
  });
});

test("the role that migrates has the same kind of URL, and none without that of the role that serves", () => {
  const url = "postgres://owner@db/iam?sslmode=verify-full";
  const both = { DATABASE_URL: "postgres://localhost/iam", TENANTRY_MIGRATION_DATABASE_URL: url };
  expect(readConfig(both).migrationDatabaseUrl).toBe(url);
  expect(refusal({ TENANTRY_MIGRATION_DATABASE_URL: url })).toBe(
    "DATABASE_URL must be set with TENANTRY_MIGRATION_DATABASE_URL: the same database, with the role that serves",
  );
  const wrong = "postgres://owner:hunter2@db/iam";
  expect(refusal({ ...both, TENANTRY_MIGRATION_DATABASE_URL: wrong })).toMatch(
    /^TENANTRY_MIGRATION_DATABASE_URL leads to another machine and has no sslmode/,
  );
});

test.each([
  "iam.example.com",
  "ftp://iam.example.com",
  "https://iam.example.com/",
  "https://iam.example.com/a",
  "https://a@b",
])("the issuer cannot be %s", (url) => {
  expect(refusal({ TENANTRY_ISSUER: url })).toBe(
    `TENANTRY_ISSUER must be a URL without a path, such as https://iam.example.com, got ${JSON.stringify(url)}`,
  );
});

test("origins can be empty, or all", () => {
  expect(readConfig({ TENANTRY_CORS_ORIGINS: "" }).corsOrigins).toEqual([]);
  expect(readConfig({ TENANTRY_CORS_ORIGINS: "*" }).corsOrigins).toEqual(["*"]);
});

describe("wrong settings", () => {
  test("that are unknown are rejected, because they can be typos", () => {
    expect(refusal({ TENANTRY_LOGLEVEL: "debug" })).toBe(
      'TENANTRY_LOGLEVEL is not a setting; the nearest is TENANTRY_LOG_LEVEL; "tenantry serve --help" lists them',
    );
    expect(refusal({ TENANTRY_: "x" })).toContain("TENANTRY_ is not a setting");
    expect(refusal({ TENANTRY_toString: "x" })).toContain("TENANTRY_toString is not a setting");
  });

  test("are all reported at once, one per line, without secret values", () => {
    const lines = refusal({
      PORT: "x",
      DATABASE_URL: "hunter2",
      TENANTRY_ACCESS_LOG: "yes",
      TENANTRY_TYPO: "hunter3",
    }).split("\n");
    expect(lines).toHaveLength(4);
    expect(lines).toEqual(
      expect.arrayContaining([
        "DATABASE_URL must be a URL of the form postgres://user:password@host:5432/database",
        'PORT must be a whole number from 0 to 65535, got "x"',
        'TENANTRY_ACCESS_LOG must be one of on, off, got "yes"',
        'TENANTRY_TYPO is not a setting; "tenantry serve --help" lists them',
      ]),
    );
  });
});

describe("a client's settings", () => {
  const standard = { url: undefined, apiKey: undefined, dataDirectory: "./data" };

  test("have defaults, whatever the settings of the server", () => {
    expect(readClientConfig({})).toEqual(standard);
    expect(readClientConfig({ PORT: "x", DATABASE_URL: "x", TENANTRY_MAX_JSON_DEPTH: "x" })).toEqual(standard);
  });

  test("are read from the environment", () => {
    const environment = {
      TENANTRY_URL: "https://iam.example",
      TENANTRY_API_KEY: "tenantry_x",
      TENANTRY_DATA: "/var/iam",
    };
    expect(readClientConfig(environment)).toEqual({
      url: "https://iam.example",
      apiKey: "tenantry_x",
      dataDirectory: "/var/iam",
    });
  });

  test("are rejected if one is unknown or blank", () => {
    expect(() => readClientConfig({ TENANTRY_KEY: "x" })).toThrow("TENANTRY_KEY is not a setting");
    expect(() => readClientConfig({ TENANTRY_URL: " " })).toThrow("TENANTRY_URL must not be blank");
  });
});

describe("the help", () => {
  const lines = describeSettings().split("\n").slice(1, -1);
  const ofCommandLine = ["TENANTRY_ORG", "TENANTRY_PROFILE", "TENANTRY_COMPLETION_MS"];
  const clients = ["TENANTRY_URL", "TENANTRY_API_KEY", ...ofCommandLine];
  const ofTraces = [
    ...["ENDPOINT", "TRACES_ENDPOINT", "PROTOCOL", "TRACES_PROTOCOL"].map((name) => `OTEL_EXPORTER_OTLP_${name}`),
    ...["TRACES_EXPORTER", "TRACES_SAMPLER", "TRACES_SAMPLER_ARG"].map((name) => `OTEL_${name}`),
    ...["SERVICE_NAME", "RESOURCE_ATTRIBUTES", "SDK_DISABLED"].map((name) => `OTEL_${name}`),
  ];

  test("has a line with a description for every setting", () => {
    // Those that need another one.
    const withOthers = ["TENANTRY_SMTP_URL", "TENANTRY_SMTP_FROM", "TENANTRY_MIGRATION_DATABASE_URL"];
    const own = [...integers, ...limits, ...others].map(([variable]) => variable);
    const variables = [...own, ...withOthers, ...clients, ...ofTraces];
    const listed = lines.map((line) => /^ {2}(\S+) +\S.*\.( Default: \S+)?$/.exec(line)?.[1]);
    expect(new Set(listed)).toEqual(new Set(variables));
    expect(listed).toHaveLength(variables.length);
  });

  test("shows each default in the format of the setting", () => {
    const shown = lines.flatMap((line) => {
      const match = /^ {2}(\S+) .* Default: (\S+)$/.exec(line);
      return match === null ? [] : [[match[1], match[2]] as [string, string]];
    });
    // The two URLs of the database and that of the service, the origins, the proxies, the issuer, the networks, the file of keys, the API key, the mail
    // server with its sender and the port of metrics have none, nor have those of the command line, and five of traces.
    expect(shown).toHaveLength(lines.length - 18 - ofCommandLine.length);
    expect(readConfig(Object.fromEntries(shown))).toEqual(defaults);
    expect(readClientConfig(Object.fromEntries(shown))).toMatchObject({ url: undefined });
  });
});

describe("traces", () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/" };
  const traces = { url: "http://collector:4318/v1/traces", sampler: "parentbased_always_on", share: 1 };
  const ratio = { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.01" };

  test.each([
    [endpoint, traces],
    [
      { ...endpoint, ...ratio },
      { ...traces, sampler: "traceidratio", share: 0.01 },
    ],
    [
      { ...endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://other/spans" },
      { ...traces, url: "https://other/spans" },
    ],
    [{ ...endpoint, OTEL_SDK_DISABLED: "True" }, undefined],
    [{ ...endpoint, OTEL_SDK_DISABLED: "1" }, traces],
    [{ ...endpoint, OTEL_TRACES_EXPORTER: "none" }, undefined],
    [{ ...ratio, OTEL_SERVICE_NAME: "iam" }, undefined],
  ])("%o", (environment, expected) => {
    expect(readConfig(environment).traces).toEqual(expected);
  });

  test.each([
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318", "must be a URL such as http://localhost:4318"],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", 'must be one of http/protobuf, got "grpc"'],
    ["OTEL_TRACES_SAMPLER_ARG", "1.5", 'must be a number from 0 to 1, got "1.5"'],
    ["OTEL_TRACES_SAMPLER_ARG", " ", 'must be a number from 0 to 1, got " "'],
  ])("refuses %s %o", (name, value, problem) => {
    expect(() => readConfig({ [name]: value })).toThrow(`${name} ${problem}`);
  });
});
