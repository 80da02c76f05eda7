// Rules over the claims with which an identity provider describes a person: CEL expressions as conditions are, with one variable. Claims come
// from a provider that an org has chosen, so what they are is not known, and how much they are is bounded.
import type { CelInput } from "@bufbuild/cel";
import { ConditionError } from "./check-condition.ts";
import { checkCondition, parseCondition, planExpression } from "./compile-condition.ts";
import type { Variables } from "./condition-types.ts";
import { countParts } from "./expressions.ts";

const variables: Variables = { claims: "dyn" };

/** Claims that a rule can be asked about. */
export interface RuledClaims {
  /** Maps have no keys but their own: `__proto__` is one as any other. */
  readonly values: ReadonlyMap<string, CelInput>;
  /** How many characters they have, about. */
  readonly characters: number;
}

const limits = { characters: 16_384, values: 1_000, levels: 8 } as const;

/** So many characters of claims double the cost of a part of a rule, which takes 15 µs at most. */
const charactersOfUnit = 256;

/** What a rule may cost: it is asked once or twice at a sign-in. */
const maxCost = 10_000;

/** Checks a rule. Returns the problem, as a phrase that follows the field's name, or undefined if the rule is valid. */
export const checkClaimsRule = (expression: string): string | undefined => checkCondition(expression, variables);

/**
 * Reports whether a rule is true of claims.
 *
 * @throws ConditionError, or what the evaluation throws, when the rule fails.
 */
export function evaluateClaimsRule(expression: string, { values, characters }: RuledClaims): boolean {
  const parsed = parseCondition(expression);
  const holds = planExpression(parsed, variables);
  if (countParts(parsed.expr) * (1 + characters / charactersOfUnit) > maxCost) {
    throw new ConditionError(`takes too long for claims of ${characters} characters`);
  }
  return holds({ claims: values });
}

/** Returns claims as a rule sees them; undefined if they are too many, too long or nested too deep. */
export function readRuledClaims(claims: Readonly<Record<string, unknown>>): RuledClaims | undefined {
  const left = { characters: limits.characters, values: limits.values };
  const values = readMap(claims, left, limits.levels);
  return left.characters < 0 || left.values < 0 || values === undefined
    ? undefined
    : { values, characters: limits.characters - left.characters };
}

/** What may still be read. */
interface Left {
  characters: number;
  values: number;
}

/** Counts values and characters. @returns whether there may be that much. */
function take(left: Left, values: number, characters: number): boolean {
  left.characters -= characters;
  left.values -= values;
  return left.characters >= 0 && left.values >= 0;
}

function readMap(claims: object, left: Left, levels: number): Map<string, CelInput> | undefined {
  const read = new Map<string, CelInput>();
  for (const [key, claim] of Object.entries(claims)) {
    if (claim === undefined) continue;
    const value = take(left, 0, key.length) ? readValue(claim, left, levels - 1) : undefined;
    if (value === undefined) return undefined;
    read.set(key, value);
  }
  return read;
}

function readList(claims: readonly unknown[], left: Left, levels: number): CelInput[] | undefined {
  const read: CelInput[] = [];
  for (const claim of claims) {
    const value = readValue(claim, left, levels - 1);
    if (value === undefined) return undefined;
    read.push(value);
  }
  return read;
}

/** Returns undefined for what is too much, and for what JSON does not have. */
function readValue(claim: unknown, left: Left, levels: number): CelInput | undefined {
  if (levels < 0 || !take(left, 1, typeof claim === "string" ? claim.length : 1)) return undefined;
  if (Array.isArray(claim)) return readList(claim, left, levels);
  switch (typeof claim) {
    case "string":
    case "number":
    case "boolean":
      return claim;
    case "object":
      return claim === null ? null : readMap(claim, left, levels);
    default:
      return undefined;
  }
}
