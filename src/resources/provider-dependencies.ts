import type { ResourceDependencies } from "../standard-methods/rules.ts";

/** What the services of resources and their operations depend on. */
export interface ProviderDependencies extends ResourceDependencies {
  /** How long a request may take. */
  readonly requestTimeoutMs: number;
}
