import { entityWidth } from "./entity-table.ts";

// Where members and groups keep the first of each of their lists.

export const memberMembershipsField = entityWidth;
/** Two fields, as `binding-index.ts` wants them. */
export const memberCellsField = entityWidth + 1;
export const memberOwnWidth = 3;

export const groupMembershipsField = entityWidth;
/** The nestings that put the group into others. */
export const groupOuterField = entityWidth + 1;
/** The nestings that put others into the group. */
export const groupInnerField = entityWidth + 2;
/** Two fields. */
export const groupCellsField = entityWidth + 3;
/** Set while the group is among those that somebody is in. */
export const groupMarkField = entityWidth + 5;
export const groupOwnWidth = 6;
