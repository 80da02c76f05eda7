import { entityWidth } from "./entity-table.ts";

// The fields in which members and groups keep the heads of their lists, and those that decisions read, which come first.

export const memberMembershipsField = entityWidth;
/** A bit for each scope in which the member is bound. Scopes share bits. */
export const memberScopeBitsField = entityWidth + 1;
export const memberCellsField = entityWidth + 2;
export const memberOwnWidth = 3;

/** Set while `EffectiveGroups` has collected the group. */
export const groupMarkField = entityWidth;
/** The nestings of this group in other groups. */
export const groupOuterField = entityWidth + 1;
/** As for members. */
export const groupScopeBitsField = entityWidth + 2;
export const groupCellsField = entityWidth + 3;
export const groupMembershipsField = entityWidth + 4;
/** The nestings of other groups in this group. */
export const groupInnerField = entityWidth + 5;
export const groupOwnWidth = 6;
