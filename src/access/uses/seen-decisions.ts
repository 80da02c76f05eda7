// Remembers decisions of which it is recorded what gave the permission, so that the same decision again costs one look. A place holds one
// decision: another one that falls on it takes it, and what gave the first is then found once more. So the memory is fixed.
import type { TargetScope } from "../engine/decisions/target-scope.ts";

/** A decision, with the number of its subject in a snapshot. */
interface SeenDecision {
  /** For which the number stands for the subject. */
  readonly numbering: object;
  readonly subject: number;
  readonly permission: string;
  readonly resource: TargetScope;
}

export interface SeenDecisions {
  /** Whether a decision was added, with an end that is not within the minute of this time, in milliseconds. */
  readonly has: (decision: SeenDecision, now: number) => boolean;
  readonly add: (decision: SeenDecision, until: number) => void;
}

interface Place extends Omit<SeenDecision, "resource"> {
  readonly resourceId: string;
  readonly untilMinute: number;
}

const places = 1 << 15;

const minuteOf = (ms: number): number => Math.floor(ms / 60_000);

export function createSeenDecisions(): SeenDecisions {
  const taken: (Place | undefined)[] = Array.from({ length: places });

  return {
    has({ numbering, subject, permission, resource }, now) {
      const resourceId = idOf(resource);
      const known = taken[placeOf(subject, permission, resourceId)];
      return (
        known !== undefined &&
        known.numbering === numbering &&
        known.subject === subject &&
        minuteOf(now) < known.untilMinute &&
        known.permission === permission &&
        known.resourceId === resourceId
      );
    },

    add({ numbering, subject, permission, resource }, until) {
      const resourceId = idOf(resource);
      const place = placeOf(subject, permission, resourceId);
      taken[place] = { numbering, subject, permission, resourceId, untilMinute: minuteOf(until) };
    },
  };
}

/** Returns the id of a resource; empty for the platform. No two resources have the same. */
function idOf(resource: TargetScope): string {
  switch (resource.kind) {
    case "platform":
      return "";
    case "customer":
      return resource.customerId;
    case "service":
      return resource.serviceId;
    case "org":
      return resource.orgId;
    case "project":
      return resource.projectId;
  }
}

/** The last characters of an id are random, and those of permissions often differ in their number. */
function placeOf(subject: number, permission: string, id: string): number {
  const ofId = (id.charCodeAt(id.length - 1) << 8) ^ (id.charCodeAt(id.length - 2) << 4) ^ id.charCodeAt(id.length - 3);
  const ofPermission = (permission.length << 8) ^ permission.charCodeAt(permission.length - 1);
  const hash = Math.imul(subject, 0x9e3779b1) ^ Math.imul(ofPermission, 0x85ebca6b) ^ Math.imul(ofId, 0xc2b2ae35);
  return (hash ^ (hash >>> 15)) & (places - 1);
}
