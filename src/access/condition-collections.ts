import type { ConditionNames } from "./conditions/condition-path.ts";

/** The collections of this API below an org, with where conditions find the names of what is in them. */
export const conditionCollections: ConditionNames["collections"] = new Map([
  ["members", "members"],
  ["groups", "groups"],
  ["subgroups", "groups"],
  ["roles", "roles"],
  ["apiKeys", "unnamed"],
  ["roleBindings", "unnamed"],
  ["projects", "unnamed"],
]);
