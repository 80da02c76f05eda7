// The settings of traces: the environment variables that OpenTelemetry has for all services. What says how spans are sent besides
// (OTEL_EXPORTER_OTLP_HEADERS, ..._TIMEOUT, ..._CERTIFICATE, OTEL_BSP_*), its SDK reads itself.
import { EnvError, makeValidator } from "envalid";
import { oneOf } from "./setting-types.ts";
import { type SamplerName, samplers } from "./tracing/sampler.ts";

const httpUrl = makeValidator<string>((input) => {
  if (URL.canParse(input) && /^https?:\/\//.test(input)) return input;
  // The value may contain a password, so the message does not repeat it.
  throw new EnvError("must be a URL such as http://localhost:4318");
});

const share = makeValidator<number>((input) => {
  const value = Number(input);
  if (input.trim() !== "" && value >= 0 && value <= 1) return value;
  throw new EnvError(`must be a number from 0 to 1, got ${JSON.stringify(input)}`);
});

const anyText = makeValidator<string>((input) => input);

const protocols = ["http/protobuf"] as const;

export const traceSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl({
    default: undefined,
    desc: "URL of a collector of OpenTelemetry, to whose /v1/traces the spans of calls are sent, such as http://localhost:4318. If unset, nothing is traced.",
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl({
    default: undefined,
    desc: "The whole URL to which spans are sent, instead of the above.",
  }),
  OTEL_EXPORTER_OTLP_PROTOCOL: oneOf(protocols, {
    default: "http/protobuf",
    desc: "How spans are sent: http/protobuf, and no other.",
  }),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: oneOf(protocols, { default: "http/protobuf", desc: "The same." }),
  OTEL_TRACES_EXPORTER: oneOf(["otlp", "none"], { default: "otlp", desc: "Where spans go: otlp, or none." }),
  OTEL_TRACES_SAMPLER: oneOf(samplers, {
    default: "parentbased_always_on",
    desc: `Which calls are traced: ${samplers.join(", ")}. Callers decide it only from TENANTRY_TRUSTED_PROXIES.`,
  }),
  OTEL_TRACES_SAMPLER_ARG: share({ default: 1, desc: "The share of calls that a ratio traces, from 0 to 1." }),
  OTEL_SERVICE_NAME: anyText({ default: undefined, desc: "The name of the service in traces. If unset, tenantry." }),
  OTEL_RESOURCE_ATTRIBUTES: anyText({
    default: undefined,
    desc: "What else traces say of the server, such as deployment.environment.name=production.",
  }),
  OTEL_SDK_DISABLED: anyText({ default: undefined, desc: "true to trace nothing, whatever else is set." }),
};

/** Where spans are sent, and of which calls. */
export interface TraceConfig {
  readonly url: string;
  readonly sampler: SamplerName;
  /** From 0 to 1. */
  readonly share: number;
}

interface Values {
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
  readonly OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: string | undefined;
  readonly OTEL_TRACES_EXPORTER: "otlp" | "none";
  readonly OTEL_TRACES_SAMPLER: SamplerName;
  readonly OTEL_TRACES_SAMPLER_ARG: number;
  readonly OTEL_SDK_DISABLED?: string | undefined;
}

/** Returns undefined if nothing is to be traced. */
export function readTraceConfig(env: Values): TraceConfig | undefined {
  const common = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const url = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? (common && `${common.replace(/\/$/, "")}/v1/traces`);
  const isOff = env.OTEL_SDK_DISABLED?.toLowerCase() === "true" || env.OTEL_TRACES_EXPORTER === "none";
  if (url === undefined || isOff) return undefined;
  return { url, sampler: env.OTEL_TRACES_SAMPLER, share: env.OTEL_TRACES_SAMPLER_ARG };
}
