import type { Authorise } from "../access/evaluation/authorise.ts";
import type { ViewCaller } from "../access/evaluation/caller-view.ts";
import type { AccessEvaluator } from "../access/evaluation/evaluator.ts";
import type { ResourceDependencies } from "../standard-methods/rules.ts";

export interface ProviderDependencies extends ResourceDependencies {
  readonly requestTimeoutMs: number;
  /** Makes decisions about the caller of a read. */
  readonly authoriserOf: Authorise["authoriserOf"];
  readonly evaluator: AccessEvaluator;
  readonly viewCaller: ViewCaller;
}
