// Shows who would gain and lose what by a plan: a line for each member and resource.
import { recordOf, stringOf } from "../http/service-error.ts";

/** What members gain or lose. */
export interface AccessLines {
  /** `alice gains repos.access.read on projects/web-shop`, with a `+` or `-` before it. */
  readonly lines: readonly string[];
  /** What is said of all: `2 members gain access, 1 loses some`; empty if nobody does. */
  readonly summary: string;
}

/** A role can have hundreds of permissions. */
const maxPermissions = 4;

/** Reads the access preview of the answer to a plan. */
export function readAccess(org: string, answer: Readonly<Record<string, unknown>>): AccessLines {
  const preview = recordOf(answer["access_preview"]) ?? {};
  const changes = Array.isArray(preview["changes"]) ? preview["changes"] : [];
  const lines = changes.flatMap((each) => linesOf(org, recordOf(each) ?? {}));
  const [gaining, losing, count] = ["gaining_member_count", "losing_member_count", "change_count"].map((name) =>
    Number(preview[name] ?? 0),
  );
  const hidden = (count ?? 0) - changes.length;
  return {
    lines: hidden > 0 ? [...lines, `… and on ${hidden} more`] : lines,
    summary: [
      ...countOf(gaining ?? 0, "gains", "gain", "access"),
      ...countOf(losing ?? 0, "loses", "lose", "access"),
      ...(preview["partial"] === true ? ["not all could be evaluated"] : []),
      ...(preview["trimmed"] === true ? ["you may not see the access to all of the org"] : []),
    ].join(", "),
  };
}

function countOf(count: number, one: string, many: string, what: string): readonly string[] {
  if (count === 0) return [];
  return [count === 1 ? `1 member ${one} ${what}` : `${count} members ${many} ${what}`];
}

function linesOf(org: string, change: Readonly<Record<string, unknown>>): readonly string[] {
  const member = (stringOf(change["member_path"]) ?? "").split("/").at(-1) ?? "";
  const resource = stringOf(change["resource_path"]) ?? "";
  const below = resource.split("/").slice(3).join("/");
  const where = resource.startsWith("/orgs/") ? (below === "" ? org : below) : resource;
  const when = change["conditional"] === true ? ", under a condition" : "";
  return (["gained", "lost"] as const).flatMap((which) => {
    const listed = change[`${which}_permissions`];
    const permissions = Array.isArray(listed) ? listed.map(String) : [];
    if (permissions.length === 0) return [];
    const more = permissions.length - maxPermissions;
    const shown = permissions.slice(0, maxPermissions).join(", ") + (more > 0 ? ` and ${more} more` : "");
    return [
      `${which === "gained" ? "+" : "-"} ${member} ${which === "gained" ? "gains" : "loses"} ${shown} on ${where}${when}`,
    ];
  });
}
