// Shows what is not as files have made it.
import { recordOf, stringOf } from "../http/service-error.ts";

/** Reads the drifts of the answer to a plan: a line for each. */
export function readDrifts(answer: Readonly<Record<string, unknown>>): readonly string[] {
  const drifts = Array.isArray(answer["drifts"]) ? answer["drifts"] : [];
  const hidden = Number(answer["drift_count"] ?? 0) - drifts.length;
  const lines = drifts.map((each) => lineOf(recordOf(each) ?? {}));
  return hidden > 0 ? [...lines, `* … and ${hidden} more`] : lines;
}

function lineOf(drift: Readonly<Record<string, unknown>>): string {
  const path = (stringOf(drift["resource_path"]) ?? "").split("/").slice(3).join("/");
  const { address, version } = recordOf(drift["managed_by"]) ?? {};
  const source = [stringOf(address) ?? "", stringOf(version) ?? ""].filter((part) => part !== "").join(" at ");
  switch (drift["kind"]) {
    case "CHANGED":
      return `* ${path} was changed since ${source}`;
    case "REMOVED":
      return `* ${path} was removed since ${source}`;
    default:
      return `* ${path} is in no file`;
  }
}
