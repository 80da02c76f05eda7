import type { OrgSnapshot } from "../org-snapshot.ts";
import { isGroup, recordOf, subjectNumber } from "../tables/subject.ts";

/** Each subject that was found, with the one inside it through which it was found; 0 for the one where the search began. */
export type Inside = Map<number, number>;

/**
 * Returns a subject, then its groups, then the groups in which these are nested, and so on. Each level is in the order of ids, so that
 * what is found does not depend on how the snapshot was built.
 *
 * @param inside receives the subjects of each level before it is returned.
 */
export function* levelsFrom(
  snapshot: OrgSnapshot,
  start: number,
  now: number,
  inside: Inside,
): Iterable<readonly number[]> {
  inside.set(start, 0);
  let level = [start];
  while (level.length > 0) {
    yield level;
    const next: number[] = [];
    for (const from of level) {
      for (const group of groupsOf(snapshot, from, now)) {
        const number = subjectNumber("group", group);
        if (inside.has(number)) continue;
        inside.set(number, from);
        next.push(number);
      }
    }
    level = next.toSorted((one, other) => snapshot.groups.compare(recordOf(one), recordOf(other)));
  }
}

function* groupsOf({ groups, memberships, nestings }: OrgSnapshot, subject: number, now: number): Iterable<number> {
  const edges = isGroup(subject) ? nestings : memberships;
  for (let edge = edges.firstFrom(recordOf(subject)); edge !== 0; edge = edges.nextFrom(edge)) {
    const group = edges.groupOf(edge);
    if (edges.holdsAt(edge, now) && groups.isLive(group)) yield group;
  }
}

/** Returns the ids of the groups on the way from where the search began to a subject that it found. */
export function groupsTo({ groups }: OrgSnapshot, subject: number, inside: Inside): string[] {
  const path: string[] = [];
  for (let at = subject; (inside.get(at) ?? 0) !== 0; at = inside.get(at) ?? 0) path.unshift(groups.idOf(recordOf(at)));
  return path;
}
