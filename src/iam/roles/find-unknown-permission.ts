import { nearestNames } from "../../errors/nearest-names.ts";
import { ownAreas } from "../../access/engine/tables/permission-class.ts";

/**
 * Returns what is wrong with a permission, or a scope that ends with `.*`, in an area of this service that this service does not have, and the
 * nearest and what there is; undefined if it has it. The permissions of other services are not known here.
 *
 * @param known all permissions of this service.
 */
export function findUnknownPermission(permission: string, known: readonly string[]): string | undefined {
  const [area = "", collection = ""] = permission.split(".");
  if (!ownAreas.has(area) || known.includes(permission) || permission === `${area}.*`) return undefined;
  const inCollection = known.filter((each) => each.startsWith(`${area}.${collection}.`));
  if (inCollection.length > 0 && permission === `${area}.${collection}.*`) return undefined;
  const inArea = known.filter((each) => each.startsWith(`${area}.`));
  const collections = [...new Set(inArea.map((each) => each.split(".")[1] ?? ""))];
  const names = permission.endsWith(".*") ? collections.map((each) => `${area}.${each}.*`) : inArea;
  const nearest = nearestNames(permission, names).join(" or ");
  const problem = `there is no ${permission}${nearest && `; the nearest is ${nearest}`}`;
  return inCollection.length > 0
    ? `${problem}; of ${area}.${collection} there are ${inCollection.join(", ")}`
    : `${problem}; the collections of ${area} are ${collections.join(", ")}`;
}
