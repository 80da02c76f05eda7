import type { Resource, ResourceSchema } from "../../../gen/resources/v1alpha/resource_pb.ts";
import { unlimited } from "../../access/evaluation/visibility.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { patterns } from "../../paths/patterns.ts";
import { parseResourcePath } from "../../paths/parse-path.ts";
import type { RowReaders } from "../../standard-methods/read/row-reader.ts";
import type { Check } from "../../standard-methods/rules.ts";
import { type CheckedParameters, createCheckParameters, createParametersWork } from "../parameters.ts";
import { resourceTypeDefinition } from "../resource-types/definition.ts";

/**
 * Starts to check the parameters of the new resources of a request, before it takes a lock: they may be long, and schemas slow. The
 * types are read without a lock, so `requireChecked` compares them with those under the lock before it tells what is wrong.
 */
type StartCheck = (resources: readonly Resource[]) => Promise<Check<typeof ResourceSchema, CheckedParameters>>;

/** Creates the check. It keeps schemas as they were read. */
export function createStartCheck(readers: RowReaders): StartCheck {
  const types = readers.readerOf(resourceTypeDefinition, resourceTypeDefinition.places[0]);
  const check = createCheckParameters();
  return async (resources) => {
    const paths = [...new Set(resources.map(({ typePath }) => typePath))];
    const parsed = paths.map((path) => parseResourcePath(patterns.ResourceType, path, "resource.type_path"));
    const rows = await types.lookup.each(parsed, unlimited);
    const typeOf = new Map(paths.map((path, index) => [path, rows[index]]));
    const work = createParametersWork();
    return ({ typePath, parameters = {} }) => {
      const type = typeOf.get(typePath);
      return { type, error: type && problemOf(() => check(type, parameters, "resource.parameters", work)) };
    };
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
