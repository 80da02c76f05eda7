// Reads the Quantities and Qualities of a request, as the definition of its operation demands.
import type { Transaction } from "kysely";
import type { Schema, StoredOperationType, StoredQuality, StoredQuantity } from "../../database/schema.ts";
import { mapEntry } from "../../errors/map-entry.ts";
import { type FieldViolation, invalidFields } from "../../errors/service-error.ts";
import { isMultipleOf, maxAmount } from "../amounts.ts";
import { findQualityKinds } from "../quality-kinds/store.ts";
import { findQuantityKinds } from "../quantity-kinds/store.ts";

type ByKind = Readonly<Record<string, number>>;

/** The variables of an operation: what is wanted, or what was given. */
export interface Variables {
  readonly quantities: ByKind;
  readonly qualities: ByKind;
}

/** The names of the two fields that hold variables, for errors. */
export interface VariableFields {
  readonly quantities: string;
  readonly qualities: string;
}

/** What requests have to know of the kinds of an operation's variables. */
export interface VariableKinds {
  /** The step of each QuantityKind, as an exact decimal. */
  readonly steps: Readonly<Record<string, string>>;
  readonly grades: Readonly<Record<string, number>>;
}

/** Returns what the kinds of an operation's variables are. */
export async function readKinds(
  db: Transaction<Schema>,
  { quantities = [], qualities = [] }: StoredOperationType,
): Promise<VariableKinds> {
  const namesOf = (variables: readonly { readonly kind: string }[]) => variables.map(({ kind }) => kind);
  const quantityKinds = await findQuantityKinds(db, namesOf(quantities));
  const qualityKinds = await findQualityKinds(db, namesOf(qualities));
  return {
    steps: Object.fromEntries(quantityKinds.map(({ name, step }) => [name, step])),
    grades: Object.fromEntries(qualityKinds.map(({ name, highest_grade }) => [name, highest_grade])),
  };
}

/**
 * Checks the variables that a request gives for an operation, and adds the defaults.
 *
 * @throws ServiceError FIELD_INVALID with a violation for each: `resource.quantities["cpu_cores"]`.
 */
export function readVariables(
  { steps, grades }: VariableKinds,
  { quantities = [], qualities = [] }: StoredOperationType,
  given: Variables,
  fields: VariableFields,
): Variables {
  const violations = [
    ...unknownKinds(quantities, given.quantities, fields.quantities),
    ...quantities.flatMap((each) => quantityProblem(each, steps[each.kind] ?? "1", given, fields)),
    ...unknownKinds(qualities, given.qualities, fields.qualities),
    ...qualities.flatMap((each) => qualityProblem(each, grades[each.kind] ?? 1, given, fields)),
  ];
  if (violations.length > 0) throw invalidFields(violations);
  const defaults = quantities.flatMap(({ kind, defaultAmount }) =>
    defaultAmount === undefined ? [] : [[kind, defaultAmount] as const],
  );
  return {
    quantities: { ...Object.fromEntries(defaults), ...given.quantities },
    qualities: { ...given.qualities },
  };
}

function unknownKinds(variables: readonly { readonly kind: string }[], given: ByKind, field: string): FieldViolation[] {
  const known = variables.map(({ kind }) => kind);
  const accepted = known.length === 0 ? "the operation takes none" : `the operation takes ${known.join(", ")}`;
  return Object.keys(given)
    .filter((kind) => !known.includes(kind))
    .map((kind) => violation(field, kind, `is not among the variables of the operation; ${accepted}`));
}

function quantityProblem(
  { kind, required = false, minimum = 0, maximum = maxAmount, step }: StoredQuantity,
  kindStep: string,
  given: Variables,
  { quantities: field }: VariableFields,
): FieldViolation[] {
  const amount = amountOf(given.quantities, kind);
  if (amount === undefined) return required ? [violation(field, kind, "is required by the operation")] : [];
  const least = String(step ?? kindStep);
  const isWithin = Number.isFinite(amount) && amount >= minimum && amount <= maximum;
  if (isWithin && isMultipleOf(amount, least)) return [];
  return [violation(field, kind, `must be a multiple of ${least} from ${minimum} to ${maximum}, got ${amount}`)];
}

function qualityProblem(
  { kind, required = false, maximum }: StoredQuality,
  highestGrade: number,
  given: Variables,
  { qualities: field }: VariableFields,
): FieldViolation[] {
  const grade = amountOf(given.qualities, kind);
  if (grade === undefined) return required ? [violation(field, kind, "is required by the operation")] : [];
  const highest = maximum ?? highestGrade;
  return Number.isInteger(grade) && grade >= 1 && grade <= highest
    ? []
    : [violation(field, kind, `must be a whole number from 1 to ${highest}, got ${grade}`)];
}

/** Kinds such as `constructor` are also names of properties that every object has. */
function amountOf(given: ByKind, kind: string): number | undefined {
  return Object.hasOwn(given, kind) ? given[kind] : undefined;
}

/**
 * Checks that given grades exist: none is above the highest one of its QualityKind.
 *
 * @throws ServiceError FIELD_INVALID with a violation for each.
 */
export async function requireGrades(db: Transaction<Schema>, given: ByKind): Promise<void> {
  const kinds = await findQualityKinds(db, Object.keys(given));
  const violations = kinds.flatMap(({ name, highest_grade: highest }) => {
    const grade = amountOf(given, name) ?? 0;
    return grade <= highest ? [] : [violation("given_qualities", name, `must be at most ${highest}, got ${grade}`)];
  });
  if (violations.length > 0) throw invalidFields(violations);
}

function violation(field: string, kind: string, description: string): FieldViolation {
  return { field: mapEntry(field, kind), description, rule: "variables" };
}

/**
 * Checks what a provider gave: each wanted Quantity and Quality, at least as much as was wanted. What it does not mention was
 * given as it was wanted.
 *
 * @param least what the resource must have afterwards.
 * @returns what was given of everything that was wanted or is mentioned.
 * @throws ServiceError FIELD_INVALID with a violation for each.
 */
export function readGiven(
  { givenQuantities = [], givenQualities = [] }: StoredOperationType,
  wanted: Variables,
  given: Variables,
  least: Variables = wanted,
): Variables {
  const check = (
    field: string,
    returned: readonly { readonly kind: string }[],
    amounts: ByKind,
    known: ByKind,
    minimums: ByKind,
  ): FieldViolation[] =>
    Object.entries(amounts).flatMap(([kind, amount]) => {
      const isKnown = Object.hasOwn(known, kind) || returned.some((each) => each.kind === kind);
      if (!isKnown) return [violation(field, kind, "is not among the variables that the operation returns")];
      const minimum = amountOf(minimums, kind) ?? 0;
      if (!(amount >= minimum)) {
        return [violation(field, kind, `must be at least ${minimum}, which was wanted, got ${amount}`)];
      }
      return amount <= maxAmount ? [] : [violation(field, kind, `must be at most ${maxAmount}, got ${amount}`)];
    });
  const fractions = Object.entries(given.qualities)
    .filter(([, grade]) => !Number.isInteger(grade))
    .map(([kind, grade]) => violation("given_qualities", kind, `must be a whole number, got ${grade}`));
  const violations = [
    ...check("given_quantities", givenQuantities, given.quantities, wanted.quantities, least.quantities),
    ...check("given_qualities", givenQualities, given.qualities, wanted.qualities, least.qualities),
    ...fractions,
  ];
  if (violations.length > 0) throw invalidFields(violations);
  return {
    quantities: { ...wanted.quantities, ...given.quantities },
    qualities: { ...wanted.qualities, ...given.qualities },
  };
}
