import { setTimeout as sleep } from "node:timers/promises";
import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, type ServiceImpl } from "@connectrpc/connect";
import {
  Health as HealthService,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../../gen/grpc/health/v1/health_pb.ts";
import type { Health } from "./health.ts";

/** The interval at which a Watch checks for a change. Draining is reported immediately. */
const watchIntervalMs = 2000;

/**
 * Registers `grpc.health.v1.Health`, with the state that `/readyz` reports. All services of this process, and the server as a
 * whole (the name ""), have the same state. Callers need no credentials: the router's interceptors do not run.
 */
export function registerHealth(router: ConnectRouter, health: Health, services: readonly DescService[]): void {
  const names = ["", ...services.map((service) => service.typeName)];

  async function status(): Promise<ServingStatus> {
    const obstacles = await health.obstacles();
    return Object.keys(obstacles).length === 0 ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
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
      const end = AbortSignal.any([signal, health.draining]);
      let told: ServingStatus | undefined;
      while (!signal.aborted) {
        const current = names.includes(service) ? await status() : ServingStatus.SERVICE_UNKNOWN;
        if (current !== told) yield { status: current };
        told = current;
        // The server must end the stream itself, because an open stream would prevent it from closing.
        if (health.draining.aborted) return;
        await sleep(watchIntervalMs, undefined, { signal: end, ref: false }).catch(() => undefined);
      }
    },
  };

  router.service(HealthService, implementation, { interceptors: [] });
}
