// Operations: work on a resource that its provider does, which takes time.
import { type ExitCode, CommandError, exitCodes } from "../command-error.ts";
import type { Host } from "../host.ts";
import type { Service } from "../http/service.ts";
import { recordOf, stringOf } from "../http/service-error.ts";
import { escapeText } from "../output/escape-text.ts";
import { type PrintOptions, printItem } from "../output/print-items.ts";
import { shorten } from "../output/text-width.ts";

/** How long one call waits. The service answers earlier when the operation ends. */
const waitSeconds = 10;
/** With a person who looks on, shorter, so that progress is seen. */
const shownSeconds = 1;

interface FinishOptions extends PrintOptions {
  /** Whether to wait for the end. */
  readonly waits: boolean;
}

/** Waits for the end of an operation if wanted, and prints it. */
export async function finishOperation(
  host: Host,
  service: Service,
  started: unknown,
  options: FinishOptions,
): Promise<ExitCode> {
  const operation = recordOf(started);
  const path = stringOf(operation?.["path"]);
  // A deletion of what needs no provider answers nothing.
  if (operation === undefined || path === undefined) return exitCodes.done;
  const ended = options.waits ? await waitForEnd(host, service, operation, path) : operation;
  printItem(host, ended, options);
  return exitCodeOf(ended);
}

/** @returns the operation once it has ended. */
export async function waitForEnd(
  host: Host,
  service: Service,
  started: Readonly<Record<string, unknown>>,
  path: string,
): Promise<Readonly<Record<string, unknown>>> {
  let operation = started;
  const seconds = host.isAttended ? shownSeconds : waitSeconds;
  while (operation["done"] !== true) {
    if (host.isAttended) host.warn(`\r\u001b[K${formatProgress(operation, host.columns)}`);
    const answer = await service.call({
      method: "POST",
      path: `/resources/v1alpha${path}:wait`,
      body: { timeout: `${seconds}s` },
      isRepeatable: true,
    });
    const next = recordOf(answer);
    if (next === undefined)
      throw new CommandError("the service does not say how far the operation is", { exitCode: exitCodes.refused });
    operation = next;
  }
  if (host.isAttended) host.warn("\r\u001b[K");
  return operation;
}

export function exitCodeOf({ state }: Readonly<Record<string, unknown>>): ExitCode {
  return state === "FAILED" || state === "CANCELLED" ? exitCodes.refused : exitCodes.done;
}

const barWidth = 20;

/** Returns `[#######-------------]  35 % RUNNING: copying the disk`. */
function formatProgress(operation: Readonly<Record<string, unknown>>, width: number): string {
  const percent = Math.min(100, Math.max(0, Number(operation["progress_percent"] ?? 0)));
  const filled = Math.round((percent / 100) * barWidth);
  const bar = `[${"#".repeat(filled)}${"-".repeat(barWidth - filled)}]`;
  const message = stringOf(operation["progress_message"]) || stringOf(operation["pending_reason"]) || "";
  const text = `${bar} ${String(percent).padStart(3)} % ${stringOf(operation["state"]) ?? ""}${message === "" ? "" : `: ${message}`}`;
  return shorten(escapeText(text), width - 1);
}
