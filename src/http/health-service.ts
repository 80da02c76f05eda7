import { setTimeout as sleep } from "node:timers/promises";
import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, type ServiceImpl } from "@connectrpc/connect";
import {
  Health as HealthService,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../../gen/grpc/health/v1/health_pb.ts";
import type { Health } from "./health.ts";

/** How soon a Watch tells of a change. Draining is told at once. */
const watchIntervalMs = 2000;

/**
 * `grpc.health.v1.Health` over the state that `/readyz` shows. All services of this process, and the server as a whole
 * (the name ""), are ready or not together. Health is asked without credentials: the router's interceptors are not run.
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
        // Ending the stream, rather than leaving it to the client, is what lets the server close.
        if (health.draining.aborted) return;
        await sleep(watchIntervalMs, undefined, { signal: end, ref: false }).catch(() => undefined);
      }
    },
  };

  router.service(HealthService, implementation, { interceptors: [] });
}
