export const serviceCommands: readonly string[];
export function programOf(words: readonly string[]): "service" | "command line";
export function findProgram(root: string, name: "service" | "command line"): string;
