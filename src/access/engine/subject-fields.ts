import { entityWidth } from "./entity-table.ts";

// Where members and groups keep the first of each of their lists, and what decisions look at besides: those first.

export const memberMembershipsField = entityWidth;
/** A bit for each scope in which the member is bound; scopes share bits. */
export const memberScopeBitsField = entityWidth + 1;
export const memberCellsField = entityWidth + 2;
export const memberOwnWidth = 3;

/** Set while the group is among those that somebody is in. */
export const groupMarkField = entityWidth;
/** The nestings that put the group into others. */
export const groupOuterField = entityWidth + 1;
/** As members have them. */
export const groupScopeBitsField = entityWidth + 2;
export const groupCellsField = entityWidth + 3;
export const groupMembershipsField = entityWidth + 4;
/** The nestings that put others into the group. */
export const groupInnerField = entityWidth + 5;
export const groupOwnWidth = 6;
