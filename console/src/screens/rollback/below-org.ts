/** Returns the path of something below its org, as plans show it; that of the org itself is its name. */
export const belowOrg = (path: string): string => path.split("/").slice(3).join("/") || (path.split("/")[2] ?? "");
