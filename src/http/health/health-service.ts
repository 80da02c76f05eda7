import { setTimeout as sleep } from "node:timers/promises";
import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, type ServiceImpl } from "@connectrpc/connect";
import {
  Health as HealthService,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../../../gen/grpc/health/v1/health_pb.ts";
import type { Health } from "./health.ts";

/** The interval at which a Watch checks for a change. Draining is reported immediately. */
const watchIntervalMs = 2000;

/** How many Watches may be open: far more than the proxies and orchestrators of a server have. They need no credentials. */
const defaultMaxWatches = 1000;

/**
 * Registers `grpc.health.v1.Health`, with the state that `/readyz` reports. All services of this process, and the server as a
 * whole (the name ""), have the same state. Callers need no credentials: the router's interceptors do not run.
 */
export function registerHealth(
  router: ConnectRouter,
  health: Health,
  services: readonly DescService[],
  maxWatches = defaultMaxWatches,
): void {
  const names = ["", ...services.map((service) => service.typeName)];

  async function status(): Promise<ServingStatus> {
    const obstacles = await health.obstacles();
    return Object.keys(obstacles).length === 0 ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
  }

  let watches = 0;
  let next: Promise<ServingStatus> | undefined;

  /** Returns the status after the next interval. All Watches share one check. */
  function nextStatus(): Promise<ServingStatus> {
    next ??= sleep(watchIntervalMs, undefined, { signal: health.draining, ref: false })
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return status();
      });
    return next;
  }

  /** Returns undefined when the signal is aborted first. */
  function nextUnless(signal: AbortSignal): Promise<ServingStatus | undefined> {
    return new Promise((resolve) => {
      const stop = (): void => resolve(undefined);
      signal.addEventListener("abort", stop, { once: true });
      void nextStatus().then((found) => {
        signal.removeEventListener("abort", stop);
        resolve(found);
      });
    });
  }

  async function* statuses(service: string, signal: AbortSignal) {
    const isKnown = names.includes(service);
    let sent: ServingStatus | undefined;
    let current: ServingStatus | undefined = await status();
    while (current !== undefined && !signal.aborted) {
      if (!isKnown) current = ServingStatus.SERVICE_UNKNOWN;
      if (current !== sent) yield { status: current };
      sent = current;
      // The server must end the stream itself, because an open stream would prevent it from closing.
      if (health.draining.aborted) return;
      current = await nextUnless(signal);
    }
  }

  const implementation: ServiceImpl<typeof HealthService> = {
    async check({ service }) {
      if (!names.includes(service)) throw new ConnectError(`there is no service ${service}`, Code.NotFound);
      return { status: await status() };
    },

    async list() {
      const current = await status();
      return { statuses: Object.fromEntries(names.map((name) => [name, { status: current }])) };
    },

    async *watch({ service }, { signal }) {
      if (watches >= maxWatches) {
        throw new ConnectError(`there are ${maxWatches} Watches already; call Check`, Code.ResourceExhausted);
      }
      watches++;
      try {
        yield* statuses(service, signal);
      } finally {
        watches--;
      }
    },
  };

  router.service(HealthService, implementation, { interceptors: [] });
}
