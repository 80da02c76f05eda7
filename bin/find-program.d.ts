export const serviceCommands: readonly string[];
export function findProgram(root: string, name: "service" | "command line"): string;
