/** The maximum number of names that an error lists. */
const mostOffered = 20;

/** Returns names for the error about one that does not exist, such as `name, display_name, ...`. */
export function offerNames(names: readonly string[]): string {
  const offered = [...names.slice(0, mostOffered), ...(names.length > mostOffered ? ["..."] : [])];
  return offered.join(", ") || "none";
}
