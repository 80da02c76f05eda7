import type { Histogram } from "../measures/histogram.ts";

/** The labels of a series, whose values come from tables of ours: never from what a caller sends. */
export type Labels = Readonly<Record<string, string>>;

/** What a series of each type has when it is scraped. */
interface Values {
  readonly counter: number;
  readonly gauge: number;
  readonly histogram: Histogram;
  /** How many there were, and what they sum up to. */
  readonly summary: { readonly count: number; readonly sum: number };
}

type Read<Type extends keyof Values> = () => Iterable<readonly [Labels, Values[Type]]>;

interface FamilyOf<Type extends keyof Values> {
  /** With the unit: `rpc_server_call_duration_seconds`. */
  readonly name: string;
  /** What a person who looks at it needs to know. */
  readonly help: string;
  readonly type: Type;
  /** Returns the values of now, by their labels. Labels that are the same object each time are written once for all scrapes. */
  readonly read: Read<Type>;
}

/** A metric with all its series. */
export type Family = { readonly [Type in keyof Values]: FamilyOf<Type> }[keyof Values];

export const counter = (name: string, help: string, read: Read<"counter">): Family => ({
  name,
  help,
  type: "counter",
  read,
});

export const gauge = (name: string, help: string, read: Read<"gauge">): Family => ({ name, help, type: "gauge", read });

export const histogram = (name: string, help: string, read: Read<"histogram">): Family => ({
  name,
  help,
  type: "histogram",
  read,
});

export const summary = (name: string, help: string, read: Read<"summary">): Family => ({
  name,
  help,
  type: "summary",
  read,
});

/** The labels of a metric that has one series. */
export const unlabelled: Labels = {};
