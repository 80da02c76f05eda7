// Finds what there shall be after a rollback: what there was, but for what has ended by itself since, and what cannot be made again.
import { type Steps, createStepCounter } from "../../scheduling/steps.ts";
import { referencesOf } from "../references.ts";
import type { Side, SideResource, Sides } from "./read-sides.ts";

/** A sentence about a resource. */
export interface Remark {
  /** Of ids. */
  readonly path: string;
  /** What follows the path. */
  readonly text: string;
}

export interface Wanted {
  /** As they were. In the order of their types. */
  readonly resources: Side;
  /** What cannot be led back. What refers to it is not wanted either. */
  readonly impossible: readonly Remark[];
  /** What has ended since, and stays so. */
  readonly ended: readonly Remark[];
}

/** Whether it can be undeleted, or is gone soon. */
export const isDeleted = ({ row }: SideResource): boolean => typeof row["delete_time"] === "string";

/** The state of a member or project, also of one that is deleted; empty for others. */
export const stateOf = ({ type, row }: SideResource): string =>
  type === "member" || type === "project" ? String(row["state"]) : "";

const timeOf = (value: unknown): number => (typeof value === "string" ? Date.parse(value) : Infinity);

/** When it ends by itself, in milliseconds. */
export const endOf = ({ row }: SideResource): number => timeOf(row["expire_time"]);

/**
 * Returns what is there of a side at a time: what is neither deleted nor ended, and refers to nothing that is not there.
 *
 * @param isRestored whether something that is deleted counts as if it were not.
 */
export function* findPresent(
  side: Side,
  atMs: number,
  isRestored: (path: string) => boolean = () => false,
): Steps<Map<string, SideResource>> {
  const isStepOver = createStepCounter();
  const present = new Map<string, SideResource>();
  for (const resource of side.values()) {
    if (isStepOver()) yield;
    if (endOf(resource) <= atMs || (isDeleted(resource) && !isRestored(resource.path))) continue;
    if (referencesOf(resource).every(({ path }) => present.has(path))) present.set(resource.path, resource);
  }
  return present;
}

/**
 * @param pastMs the time that is led back to.
 * @param nowMs that of the call.
 */
export function* findWanted({ now, past }: Sides, pastMs: number, nowMs: number): Steps<Wanted> {
  const isStepOver = createStepCounter();
  const resources = new Map<string, SideResource>();
  const impossible: Remark[] = [];
  const ended: Remark[] = [];
  for (const resource of (yield* findPresent(past, pastMs)).values()) {
    if (isStepOver()) yield;
    const { path } = resource;
    if (!referencesOf(resource).every((reference) => resources.has(reference.path))) continue;
    const end = findEnd(resource, now.get(path), nowMs);
    const problem = end === undefined ? findProblem(resource, now.get(path), nowMs) : undefined;
    if (end !== undefined) ended.push({ path, text: end });
    else if (problem === undefined) resources.set(path, resource);
    else impossible.push({ path, text: problem });
  }
  return { resources, impossible, ended };
}

/** Returns how something has ended by itself since. */
function findEnd(resource: SideResource, present: SideResource | undefined, nowMs: number): string | undefined {
  const end = endOf(resource);
  if (end <= nowMs) return `has ended since, at ${new Date(end).toISOString()}, and stays ended`;
  const isOpen = present === undefined || stateOf(present) !== "INVITED" || !isDeleted(present);
  if (isOpen || timeOf(present.row["invitation_expire_time"]) > nowMs) return undefined;
  return "was invited, and the invitation has expired since";
}

/** Returns why something cannot be led back. */
function findProblem({ type }: SideResource, present: SideResource | undefined, nowMs: number): string | undefined {
  switch (type) {
    case "member":
    case "project": {
      const isGone = present === undefined || (isDeleted(present) && timeOf(present.row["purge_time"]) <= nowMs);
      return isGone ? "was purged since, and cannot be made again" : undefined;
    }
    case "identity provider":
    case "client":
    case "webhook":
      return present === undefined ? "was deleted since with its secret, and cannot be made again" : undefined;
    case "role":
    case "group":
    case "subgroup":
    case "membership":
    case "role binding":
      return undefined;
  }
}
