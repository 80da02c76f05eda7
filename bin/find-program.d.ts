/** Returns the path of what `tenantry` runs, for the root of the checkout or package. */
export declare function findProgram(root: string): string;
