// What a run has found: the rules that were broken, with examples.

const rules = [
  "an acknowledged write is lost",
  "a write is doubled",
  "a write is half there",
  "a decision is wrong",
  "an answer is wrong",
  "the change log has a gap or differs from the rows",
  "a call failed in a way that clients may not retry",
  "a call did not succeed in time after many tries",
  "a server ended by itself",
  "quiet orgs are slower than their bound",
  "memory, handles or connections grow",
] as const;

type Rule = (typeof rules)[number];

const maxExamples = 8;

export interface Findings {
  add(rule: Rule, example: string): void;
  /** Prints the rules that were broken. Returns whether there are any. */
  print(): boolean;
}

export function createFindings(): Findings {
  const examples = new Map<Rule, string[]>();
  return {
    add(rule, example) {
      const known = examples.get(rule) ?? [];
      if (known.length < maxExamples) console.log(`! ${rule}: ${example}`);
      known.push(example);
      examples.set(rule, known);
    },
    print() {
      for (const rule of rules) {
        const known = examples.get(rule) ?? [];
        console.log(
          `${known.length === 0 ? "ok      " : "VIOLATED"} not: ${rule}${known.length === 0 ? "" : ` (${known.length})`}`,
        );
      }
      return examples.size > 0;
    },
  };
}
