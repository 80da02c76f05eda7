// How many lines the logs of orgs get. In an hour, an org has so many about its own members, and so many about all others, so that nobody
// fills its log with what tells nothing: the rest is counted in one line of the hour for each kind and reason.
import { createHash } from "node:crypto";
import type { AccessEvent, EventCaller } from "./access-event.ts";
import { keyOf } from "./pending-events.ts";

export interface LineLimits {
  readonly ownPerHour: number;
  readonly othersPerHour: number;
}

/** A line of a log, to which events are added. */
interface Line {
  /** Made of what tells it from the other lines of the org: its minute or hour, and what its events have in common. */
  readonly id: string;
  readonly event: Omit<AccessEvent, "org">;
}

/** @param time of an event, as text in UTC. */
export type FindLine = (orgId: string, event: AccessEvent, key: string, time: string) => Line;

interface HourOfOrg {
  readonly hour: string;
  /** The ids of the lines, of the org's own members and of others. */
  readonly own: Set<string>;
  readonly others: Set<string>;
}

const hourLength = "2029-12-31T23".length;
const minuteLength = "2029-12-31T23:59".length;

/** For more orgs than this, lines are counted from the start again. */
const maxOrgs = 10_000;

export function createFindLine({ ownPerHour, othersPerHour }: LineLimits): FindLine {
  const hours = new Map<string, HourOfOrg>();
  const hourOf = (orgId: string, hour: string): HourOfOrg => {
    const found = hours.get(orgId);
    if (found?.hour === hour) return found;
    if (found === undefined && hours.size >= maxOrgs) hours.clear();
    const begun = { hour, own: new Set<string>(), others: new Set<string>() };
    hours.set(orgId, begun);
    return begun;
  };
  return (orgId, event, ofEvent, time) => {
    const hour = time.slice(0, hourLength);
    const { own, others } = hourOf(orgId, hour);
    const [lines, most] = isOf(orgId, event.caller) ? [own, ownPerHour] : [others, othersPerHour];
    const id = idOf(`${time.slice(0, minuteLength)} ${ofEvent}`);
    if (lines.size >= most && !lines.has(id)) {
      const rest = withoutDetails(event);
      return { id: idOf(`${hour} ${keyOf(rest)}`), event: rest };
    }
    lines.add(id);
    return { id, event };
  };
}

const isOf = (orgId: string, caller: EventCaller | undefined): boolean => caller?.orgId === orgId;

/** Returns a UUID of version 8 (RFC 9562), made of a text. */
function idOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  const variant = "89ab".charAt(Number.parseInt(hex.charAt(16), 16) % 4);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}

function withoutDetails({ kind, reason }: AccessEvent): AccessEvent {
  return {
    kind,
    reason,
    caller: undefined,
    org: undefined,
    method: "",
    resourcePath: "",
    reasonDetail: "",
    remoteAddress: null,
    requestId: null,
  };
}
