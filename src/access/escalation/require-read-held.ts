// Who changes a name or a label may change which conditions hold, so the author must hold what the conditions guard that read it.
// An org may have thousands of long conditions, and its lock is held meanwhile: those are parsed last, and only if it matters.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { type ConditionDependencies, type NamedVariable, mayName } from "../conditions/condition-dependencies.ts";
import type { KnownDependencies } from "../conditions/known-dependencies.ts";
import { ServiceError } from "../../errors/service-error.ts";
import type { Demand, RequireHeld, ScopedRole } from "./require-held.ts";
import type { EffectiveGrant } from "./store.ts";

/** Grants, and what their conditions must read to matter. */
export interface Readers {
  readonly grants: readonly EffectiveGrant[];
  /** The variable by which they read it. */
  readonly variable: NamedVariable;
  readonly reads: (dependencies: ConditionDependencies) => boolean;
}

/**
 * Checks that the author holds the roles of those grants whose conditions read something.
 *
 * @throws ServiceError the error of the demand, for the first that the author does not hold.
 */
export type RequireReadHeld = (
  transaction: OrgTransaction,
  readers: readonly Readers[],
  demand: Demand,
) => Promise<void>;

/** How many conditions are parsed between two turns of the event loop: a long one takes 2 ms. */
const parsesPerTurn = 4;

/** How many are looked at between two turns: a text of a thousand characters takes a microsecond. */
const looksPerTurn = 500;

export function createRequireReadHeld(requireHeld: RequireHeld, known: KnownDependencies): RequireReadHeld {
  /** Returns the grants whose conditions read what matters, in their order. */
  async function filterReading({ grants, reads }: Readers): Promise<EffectiveGrant[]> {
    const reading: EffectiveGrant[] = [];
    let parsed = 0;
    for (const [index, grant] of grants.entries()) {
      if (index % looksPerTurn === looksPerTurn - 1) await nextTurn();
      let dependencies = known.find(grant.condition);
      if (dependencies === undefined) {
        if (++parsed % parsesPerTurn === 0) await nextTurn();
        dependencies = known.read(grant.condition);
      }
      if (reads(dependencies)) reading.push(grant);
    }
    return reading;
  }

  /** Whether the author holds the roles of all the grants, or what replaces them, so that it does not matter what they read. */
  async function holdsAll(
    transaction: OrgTransaction,
    grants: readonly EffectiveGrant[],
    demand: Demand,
  ): Promise<boolean> {
    try {
      await requireHeld(transaction, distinctRoles(grants), demand);
      return true;
    } catch (error) {
      // Which error it is, and whether there is one, depends on those that read it.
      if (error instanceof ServiceError) return false;
      throw error;
    }
  }

  return async (transaction, readers, demand) => {
    const naming: Readers[] = [];
    for (const each of readers) naming.push({ ...each, grants: await filterNaming(each) });
    const candidates = naming.flatMap(({ grants }) => grants);
    if (await holdsAll(transaction, candidates, demand)) return;
    const reading: EffectiveGrant[] = [];
    for (const each of naming) reading.push(...(await filterReading(each)));
    await requireHeld(transaction, reading, demand);
  };
}

/** Returns the grants whose conditions may name the variable. */
async function filterNaming({ grants, variable }: Readers): Promise<EffectiveGrant[]> {
  const naming: EffectiveGrant[] = [];
  for (const [index, grant] of grants.entries()) {
    if (index % looksPerTurn === looksPerTurn - 1) await nextTurn();
    if (mayName(grant.condition, variable)) naming.push(grant);
  }
  return naming;
}

/** Returns each role on each scope once: thousands of grants can differ only in their conditions. */
function distinctRoles(grants: readonly EffectiveGrant[]): ScopedRole[] {
  return [...new Map(grants.map(({ role, scope }) => [JSON.stringify([role, scope]), { role, scope }])).values()];
}
