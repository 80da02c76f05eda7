import type { Logger } from "pino";

interface LogLine {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Collects what a migration logs. */
export function createMigrationLog(): { readonly lines: LogLine[]; readonly logger: Pick<Logger, "info" | "warn"> } {
  const lines: LogLine[] = [];
  const add = (fields: Record<string, unknown>, text: string): void => void lines.push({ fields, text });
  return { lines, logger: { info: add, warn: add } as unknown as Pick<Logger, "info" | "warn"> };
}
