import type { Authorise } from "../access/evaluation/authorise.ts";
import type { ResourceDependencies } from "../standard-methods/rules.ts";

/** What the services of resources and their operations depend on. */
export interface ProviderDependencies extends ResourceDependencies {
  /** How long a request may take. */
  readonly requestTimeoutMs: number;
  /** Makes decisions about the caller of a read. */
  readonly authoriserOf: Authorise["authoriserOf"];
}
