// The service catalog: what is stored in the installation's own org and has paths without an org. Every caller may read it.
import { registry } from "../../src/resource-registry.ts";
import { methodNouns } from "../../src/paths/patterns.ts";
import { type ResourceDefinition, isInOrg } from "../../src/standard-methods/definition/definition.ts";

export function isInCatalog(definition: ResourceDefinition): boolean {
  return isInOrg(definition) && definition.places[0].pattern[0] !== "orgs";
}

/** The methods that read the catalog. */
export const openReads: ReadonlySet<string> = new Set(
  registry.definitions.filter(isInCatalog).flatMap(({ type, service }) => {
    const { one, many } = methodNouns(type);
    return [`Get${one}`, `List${many}`, `BatchGet${many}`].map((name) => `${service.typeName}/${name}`);
  }),
);
