// How the SDK of OpenTelemetry is used, which only this file knows. A server without an endpoint does not load it. It is given what is to
// be recorded alone: for a call that is not sampled, it would take most of the time that it takes for one that is.
import { randomBytes } from "node:crypto";
import {
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  NodeTracerProvider,
  type SpanExporter,
} from "@opentelemetry/sdk-trace-node";
import { waitAtMost } from "../timers/wait-at-most.ts";
import type { ActiveSpan } from "./active-span.ts";
import type { Sampler } from "./sampler.ts";
import type { Tracing } from "./tracing.ts";

export interface TracingOptions {
  /** Where spans are sent: `http://localhost:4318/v1/traces`. */
  readonly url: string;
  readonly sampler: Sampler;
  readonly version: string;
  readonly onFailure: (error: Error) => void;
}

/** A call whose items are read one by one has as many statements as items. */
const maxParts = 256;

/** How long the end of a server waits for the collector. */
const closeMs = 3_000;

const kinds = { client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

export function openTracing({ url, sampler, version, onFailure }: TracingOptions): Tracing {
  const ours = resourceFromAttributes({ "service.name": "tenantry", "service.version": version });
  const provider = new NodeTracerProvider({
    // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES.
    resource: defaultResource()
      .merge(ours)
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: new AlwaysOnSampler(),
    spanProcessors: [new BatchSpanProcessor(noteFailures(new OTLPTraceExporter({ url }), onFailure))],
  });
  const tracer = provider.getTracer("tenantry", version);
  return {
    begin(name, claimed, isTrusted) {
      const parent = isTrusted ? claimed : undefined;
      if (!sampler(parent)) return parent && { traceId: parent.traceId, span: undefined };
      const remote = claimed && { ...claimed, isRemote: true, traceFlags: TraceFlags.SAMPLED };
      const context = remote && isTrusted ? trace.setSpanContext(ROOT_CONTEXT, remote) : ROOT_CONTEXT;
      const links = remote && !isTrusted ? [{ context: { ...remote, traceFlags: TraceFlags.NONE } }] : [];
      const span = toActive(tracer, tracer.startSpan(name, { kind: SpanKind.SERVER, links }, context));
      return { traceId: span.traceId, span };
    },

    beginOutgoing(name) {
      if (!sampler(undefined)) {
        const [traceId, spanId] = [randomBytes(16).toString("hex"), randomBytes(8).toString("hex")];
        return { parent: { traceId, spanId, isSampled: false }, span: undefined };
      }
      const span = toActive(tracer, tracer.startSpan(name, { kind: SpanKind.CLIENT }, ROOT_CONTEXT));
      return { parent: { traceId: span.traceId, spanId: span.spanId, isSampled: true }, span };
    },

    close: () =>
      waitAtMost(
        closeMs,
        provider.shutdown().catch(() => undefined),
      ),
  };
}

/** @param whole what all spans of a call share. */
function toActive(tracer: Tracer, span: Span, whole = { parts: 0, isOver: false }): ActiveSpan {
  const isRoot = whole.parts === 0;
  const { traceId, spanId } = span.spanContext();
  const begin = (name: string, options: SpanOptions): ActiveSpan | undefined => {
    if (whole.isOver || whole.parts >= maxParts) return undefined;
    whole.parts++;
    return toActive(tracer, tracer.startSpan(name, options, trace.setSpan(ROOT_CONTEXT, span)), whole);
  };
  const own: ActiveSpan = {
    traceId,
    spanId,
    begin: (name, kind, attributes) => begin(name, { kind: kinds[kind], ...(attributes && { attributes }) }),
    end(attributes, failure, newName) {
      if (!span.isRecording()) return;
      if (isRoot) whole.isOver = true;
      if (newName !== undefined) span.updateName(newName);
      if (attributes !== undefined) span.setAttributes(attributes);
      if (failure !== undefined) span.setAttribute("error.type", failure).setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
    sharedWith(others) {
      const links = others.map((other) => ({
        context: { traceId: other.traceId, spanId: other.spanId, traceFlags: TraceFlags.SAMPLED },
      }));
      return {
        ...own,
        begin: (name, kind, attributes) => begin(name, { kind: kinds[kind], links, ...(attributes && { attributes }) }),
      };
    },
  };
  return own;
}

function noteFailures(exporter: SpanExporter, onFailure: TracingOptions["onFailure"]): SpanExporter {
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.error !== undefined) onFailure(result.error);
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}
