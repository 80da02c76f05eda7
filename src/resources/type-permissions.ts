// The permissions for methods on resources, which their types define: `compute.instances.create`.
import { patterns } from "../paths/patterns.ts";
import { type AnyPath, type Reference, parseResourcePath } from "../paths/parse-path.ts";
import { checkItems } from "../standard-methods/batch/batch-item.ts";
import { createWithinParent } from "../standard-methods/batch/within-parent.ts";
import type { RowReaders } from "../standard-methods/read/row-reader.ts";
import { infrastructureDefinition } from "./resources/definition.ts";
import { resourceTypeDefinition } from "./resource-types/definition.ts";
import { type Visibility, unlimited } from "../access/evaluation/visibility.ts";
import type { Database } from "../database/database.ts";
import { selectResourceTypes } from "./resource-types/store.ts";

/** A type of resources, as permissions name it. */
export interface PermissionType {
  readonly id: string;
  /** `compute.instances` */
  readonly prefix: string;
}

export interface TypePermissions {
  /** Finds the type that a request names. @throws ServiceError PATH_INVALID */
  ofPath(typePath: string, field: string): Promise<PermissionType | undefined>;
  /** Finds the type of an existing resource, as far as the caller sees it. */
  ofResource(path: AnyPath, visible: Visibility): Promise<PermissionType | undefined>;
  /**
   * Finds the types of resources in a project; undefined for those that do not exist or are elsewhere.
   *
   * @throws ServiceError PATH_INVALID that names the field: `paths[3]`.
   */
  ofResourcesIn(project: AnyPath, paths: readonly string[]): Promise<(PermissionType | undefined)[]>;
  all(): Promise<PermissionType[]>;
}

export function createTypePermissions(database: Database, readers: RowReaders): TypePermissions {
  const types = readers.readerOf(resourceTypeDefinition, resourceTypeDefinition.places[0]);
  const resources = readers.readerOf(infrastructureDefinition, infrastructureDefinition.places[0]);
  return {
    async ofPath(typePath, field) {
      const type = await types.lookup(parseResourcePath(patterns.ResourceType, typePath, field), unlimited);
      return type && toPermissionType(type);
    },
    async ofResource({ references }, visible) {
      const resource = await resources.lookup(references, visible);
      return resource && toPermissionType({ ...resource, id: resource.type_id });
    },
    ofResourcesIn({ references: project }, paths) {
      // The path of a write, which names its project.
      const within = createWithinParent((parent) => resources.resolveParent(parent, unlimited), project);
      return checkItems(paths, async (text, index) => {
        const path: readonly Reference[] = parseResourcePath(patterns.Resource, text, `paths[${index}]`, "nowhere");
        const inProject = await within(path.slice(0, -1));
        const resource = inProject && (await resources.lookup([...inProject, ...path.slice(-1)], unlimited));
        return resource && toPermissionType({ ...resource, id: resource.type_id });
      });
    },
    async all() {
      const rows = await selectResourceTypes(database.reads).execute();
      return rows.map(toPermissionType);
    },
  };
}

function toPermissionType(row: { id: string; service_name: string; collection: string }): PermissionType {
  return { id: row.id, prefix: `${row.service_name}.${row.collection}` };
}
