/** The maximum number of field names that an error lists. */
const mostOffered = 20;

/** Returns the names of fields for the error about one that does not exist, such as `name, display_name, ...`. */
export function offerFields(names: readonly string[]): string {
  const offered = [...names.slice(0, mostOffered), ...(names.length > mostOffered ? ["..."] : [])];
  return offered.join(", ") || "none";
}
