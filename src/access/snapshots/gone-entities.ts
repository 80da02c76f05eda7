import type { EntityReference } from "../engine/tables/entity-table.ts";

/** A member, project or the like that was purged, of which the log has not all that referred to it. */
export interface GoneEntity {
  readonly type: string;
  readonly id: string;
  readonly name: string;
}

export interface GoneEntities {
  readonly isEmpty: () => boolean;
  readonly hasId: (id: string) => boolean;
  /** Returns the id of the one of a type that a path names. */
  readonly find: (type: GoneEntity["type"], reference: EntityReference) => string | undefined;
}

export function createGoneEntities(): GoneEntities & { readonly add: (entities: readonly GoneEntity[]) => void } {
  const [ids, names] = [new Set<string>(), new Map<string, string>()];
  return {
    isEmpty: () => ids.size === 0,
    hasId: (id) => ids.has(id),
    find: (type, { by, value }) => (by === "name" ? names.get(`${type} ${value}`) : ids.has(value) ? value : undefined),
    add(entities) {
      for (const { type, id, name } of entities) {
        ids.add(id);
        names.set(`${type} ${name}`, id);
      }
    },
  };
}
