// Who works as the provider of a service sees what customers consume of it, also where a customer requires that members of the platform are approved: it
// is what the customer has asked the service for. What somebody holds on the platform makes nobody a provider there, but a grant on the service does.
import type { HandlerContext } from "@connectrpc/connect";
import { unlimited } from "../../access/evaluation/visibility.ts";
import { notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { serviceDefinition } from "../services/definition.ts";
import { allows } from "../../access/evaluation/allows.ts";
import { callerOf, targetOf } from "../../access/evaluation/call.ts";
import { withoutPlatform } from "../../access/engine/decisions/target-scope.ts";
import { patterns } from "../../paths/patterns.ts";
import type { ProvidedService } from "./find-by-id.ts";
import type { ProviderDependencies } from "../provider-dependencies.ts";

/** Creates the function that finds the service of a call. @throws ServiceError (the function) RESOURCE_NOT_FOUND */
export function createFindService(dependencies: ProviderDependencies) {
  const services = dependencies.readers.readerOf(serviceDefinition, serviceDefinition.places[0]);
  return async (context: HandlerContext, verb: "claim" | "report"): Promise<ProvidedService> => {
    const path = targetOf(context, patterns.Service);
    const service = await services.lookup(path, unlimited);
    if (service === undefined) throw notFound("service", formatReferences(patterns.Service, path));
    return { id: service.id, withGuarded: await providesItself(dependencies, context, verb) };
  };
}

/**
 * Reports whether the caller holds a permission on the service of the call by what is granted on that, and not on the platform. Who has claimed an
 * operation may end it in any case.
 */
async function providesItself(
  { evaluator, viewCaller }: Pick<ProviderDependencies, "evaluator" | "viewCaller">,
  context: HandlerContext,
  verb: "claim" | "report",
): Promise<boolean> {
  const { snapshot, check } = await viewCaller(callerOf(context));
  const service = { pattern: patterns.Service, references: targetOf(context, patterns.Service) };
  const target = await evaluator.resolve(snapshot, service);
  if (target === undefined) return false;
  return allows(snapshot, check, `resources.operations.${verb}`, {
    ...target,
    resource: withoutPlatform(target.resource),
  });
}
