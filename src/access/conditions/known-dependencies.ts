// What conditions read is kept by their texts, for all orgs: the snapshot of an org parses only what decisions meet, and has none of the
// conditions that members of other orgs have on its customer or the platform.
import { type ConditionDependencies, dependenciesOf } from "./condition-dependencies.ts";

/** What conditions read, by their texts. Parsing one takes a millisecond, and people ask about those of an org again and again. */
export interface KnownDependencies {
  /** Returns undefined for a text that was not read before, or not lately. */
  readonly find: (condition: string) => ConditionDependencies | undefined;
  /** Parses the text and keeps the result. */
  readonly read: (condition: string) => ConditionDependencies;
}

/** The texts that are kept have at most so many characters: 8,000 long conditions. What is known of one has no more than it. */
const maxKept = 8_000_000;

/** @param maxCharacters of the texts that are kept. Those that were read first go first. */
export function createKnownDependencies(parse = dependenciesOf, maxCharacters = maxKept): KnownDependencies {
  const known = new Map<string, ConditionDependencies>();
  let characters = 0;
  return {
    find: (condition) => known.get(condition),

    read(condition) {
      const dependencies = parse(condition);
      if (!known.has(condition)) characters += condition.length;
      known.set(condition, dependencies);
      for (const oldest of known.keys()) {
        if (characters <= maxCharacters) break;
        known.delete(oldest);
        characters -= oldest.length;
      }
      return dependencies;
    },
  };
}
