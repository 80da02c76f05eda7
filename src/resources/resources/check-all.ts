import type { HandlerContext } from "@connectrpc/connect";
import type { Resource } from "../../../gen/resources/v1alpha/resource_pb.ts";
import { callerOf } from "../../access/evaluation/call.ts";
import { unlimited } from "../../access/evaluation/visibility.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { patterns } from "../../paths/patterns.ts";
import { parseResourcePath } from "../../paths/parse-path.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { renewTurnOf } from "../../turns/renew-turn.ts";
import { type CheckedParameters, createCheckParameters, createParametersWork } from "../parameters.ts";
import { resourceTypeDefinition } from "../resource-types/definition.ts";

/**
 * Checks the parameters of the new resources of a request, before it takes a lock: they may be long, and schemas slow. Others run
 * between two resources. What is wrong is told when the resource is created, so that a repeated request gets its first answer.
 */
type CheckAll = (
  resources: readonly Resource[],
  context: HandlerContext,
) => Promise<ReadonlyMap<Resource, CheckedParameters>>;

/** Creates the check. It keeps schemas as they were read. */
export function createCheckAll({ readers, turns }: Pick<ResourceDependencies, "readers" | "turns">): CheckAll {
  const types = readers.readerOf(resourceTypeDefinition, resourceTypeDefinition.places[0]);
  const check = createCheckParameters();
  return async (resources, context) => {
    const paths = [...new Set(resources.map(({ typePath }) => typePath))];
    const parsed = paths.map((path) => parseResourcePath(patterns.ResourceType, path, "resource.type_path"));
    const rows = await types.lookup.each(parsed, unlimited);
    const typeOf = new Map(paths.map((path, index) => [path, rows[index]]));
    const renew = renewTurnOf(turns, callerOf(context), context.signal, resources.length > 1 ? "large" : "long");
    const work = createParametersWork();
    const checked = new Map<Resource, CheckedParameters>();
    for (const resource of resources) {
      const turn = renew();
      if (turn !== undefined) await turn;
      const type = typeOf.get(resource.typePath);
      const error = type && problemOf(() => check(type, resource.parameters ?? {}, "resource.parameters", work));
      checked.set(resource, { type, error });
    }
    return checked;
  };
}

function problemOf(check: () => void): ServiceError | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}
