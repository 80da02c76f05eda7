// The log as a person at a terminal reads it: a line each, with what matters first. Everything else gets the lines as JSON.
import { styleText } from "node:util";

type Fields = Readonly<Record<string, unknown>>;

/** pino's levels, with the style of their lines. */
const levels: Readonly<Record<number, readonly [name: string, style: Parameters<typeof styleText>[0]]>> = {
  10: ["trace", "dim"],
  20: ["debug", "dim"],
  30: ["info", "green"],
  40: ["warn", "yellow"],
  50: ["error", "red"],
  60: ["fatal", "red"],
};

/** Formats lines of the log, each of which ends with a line end. A line that is no JSON stays as it is. */
export function formatForPeople(lines: string): string {
  return lines.replaceAll(/[^\n]+/g, (line) => {
    const fields = parse(line);
    return fields === undefined ? line : formatLine(fields);
  });
}

function formatLine({ level, time, msg, err, ...rest }: Fields): string {
  const [name, style] = levels[Number(level)] ?? [String(level), "reset"];
  const clock = new Date(String(time)).toTimeString().slice(0, 8);
  const begin = `${styleText("dim", clock)} ${styleText(style, name.padEnd(5))}`;
  if (msg === "request") return `${begin} ${formatRequest(rest)}`;
  return `${begin} ${visible(String(msg))}${formatRest(rest)}${formatError(err)}`;
}

/** `200 GET /iam/v1alpha/orgs 3 ms` and then, dim, the call and its caller. */
function formatRequest(fields: Fields): string {
  const { status, method, path, durationMs, code, rpc, caller, aborted, requestId, address } = fields;
  const failed = typeof code === "string" && code !== "OK" ? ` ${code}` : "";
  const shown = styleText(Number(status) >= 400 || failed !== "" ? "yellow" : "green", `${String(status)}${failed}`);
  const cut = aborted === true ? " (the client has gone)" : "";
  const rest = formatRest({ rpc: path === `/${String(rpc)}` ? undefined : rpc, caller, address, requestId });
  return `${shown} ${visible(`${String(method)} ${String(path)}`)} ${Math.ceil(Number(durationMs))} ms${cut}${rest}`;
}

function formatRest(fields: Fields): string {
  const parts = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${typeof value === "string" ? value : JSON.stringify(value)}`],
  );
  return parts.length === 0 ? "" : ` ${styleText("dim", visible(parts.join(" ")))}`;
}

/** Returns the stack of an error, or its message, on lines of its own. */
function formatError(error: unknown): string {
  if (typeof error !== "object" || error === null) return "";
  const { stack, message } = error as Fields;
  return String(stack ?? message)
    .split("\n")
    .map((line) => `\n  ${visible(line)}`)
    .join("");
}

/** Escapes control characters, as JSON does, with which a text from outside could steer the terminal. */
export function visible(text: string): string {
  // oxlint-disable-next-line no-control-regex -- they are what it looks for
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

function parse(line: string): Fields | undefined {
  try {
    const fields: unknown = JSON.parse(line);
    return typeof fields === "object" && fields !== null ? (fields as Fields) : undefined;
  } catch {
    return undefined;
  }
}
