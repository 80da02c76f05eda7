import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, type ServiceImpl } from "@connectrpc/connect";
import {
  Health as HealthService,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../../../gen/grpc/health/v1/health_pb.ts";
import type { Health } from "./health.ts";
import { createStatusChanges } from "./status-changes.ts";

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

  const changes = createStatusChanges(status, health.draining);

  async function* statuses(service: string, signal: AbortSignal) {
    const isKnown = names.includes(service);
    let sent: ServingStatus | undefined;
    let current: ServingStatus | undefined = await status();
    while (current !== undefined && !signal.aborted) {
      const shown = isKnown ? current : ServingStatus.SERVICE_UNKNOWN;
      if (shown !== sent) yield { status: shown };
      sent = shown;
      // The server must end the stream itself, because an open stream would prevent it from closing.
      if (health.draining.aborted) return;
      current = await changes.next(current, signal);
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

    watch: ({ service }, { signal }) => statuses(service, signal),
  };

  router.service(HealthService, implementation, { interceptors: [] });
}
