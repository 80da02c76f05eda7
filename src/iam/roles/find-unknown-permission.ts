import { ownAreas } from "../../access/engine/tables/permission-class.ts";

/**
 * Returns what is wrong with a permission, or a scope that ends with `.*`, in an area of this service that this service does not have, and what
 * there is; undefined if it has it. The permissions of other services are not known here.
 *
 * @param known all permissions of this service.
 */
export function findUnknownPermission(permission: string, known: readonly string[]): string | undefined {
  const [area = "", collection = ""] = permission.split(".");
  if (!ownAreas.has(area) || known.includes(permission) || permission === `${area}.*`) return undefined;
  const inCollection = known.filter((each) => each.startsWith(`${area}.${collection}.`));
  if (inCollection.length > 0) {
    if (permission === `${area}.${collection}.*`) return undefined;
    return `there is no ${permission}; of ${area}.${collection} there are ${inCollection.join(", ")}`;
  }
  const inArea = known.filter((each) => each.startsWith(`${area}.`)).map((each) => each.split(".")[1] ?? "");
  return `there is no ${permission}; the collections of ${area} are ${[...new Set(inArea)].join(", ")}`;
}
