// Checks the operations of a ResourceType: what the constraints of its proto cannot say.
import type { Transaction } from "kysely";
import type {
  OperationType,
  QualityVariable,
  QuantityVariable,
  ReferenceVariable,
} from "../../../gen/resources/v1alpha/resource_type_pb.ts";
import type { Schema } from "../../database/schema.ts";
import { type FieldViolation, invalidFields } from "../../errors/service-error.ts";
import { isMultipleOf } from "../amounts.ts";
import { findQualityKinds } from "../quality-kinds/store.ts";
import { findQuantityKinds } from "../quantity-kinds/store.ts";
import { resourceTypePath } from "./message.ts";
import { selectResourceTypes } from "./store.ts";

/** What exists: the step of each kind of Quantities, the highest grade of each kind of Qualities, ResourceTypes. */
interface Kinds {
  readonly steps: ReadonlyMap<string, string>;
  readonly highestGrades: ReadonlyMap<string, number>;
  /** The paths of the ResourceTypes. */
  readonly typePaths: ReadonlySet<string>;
}

/**
 * The verbs of permissions on resources of every type: of methods, and to use a resource in a reference. They would also permit
 * operations with these verbs.
 */
const takenVerbs: readonly string[] = ["get", "list", "update", "use"];

type Variable = QuantityVariable | QualityVariable;

/** A broken rule of a variable: the field of the variable, or the variable itself. */
type Problem = readonly [field: string, description: string];

/**
 * @param known the verbs that the type has already, which may be older than a rule about verbs.
 * @throws ServiceError FIELD_INVALID with a violation for each broken rule.
 */
export function checkOperations(
  kinds: Kinds,
  operations: readonly OperationType[],
  known: readonly string[] = [],
): void {
  const violations = operations.flatMap((operation, index) => {
    const at = `resource_type.operations[${index}]`;
    const same = operations.findIndex(({ verb }) => verb === operation.verb);
    const twice = violation(`${at}.verb`, `must differ from that of operations[${same}]: a verb names one operation`);
    const taken = violation(
      `${at}.verb`,
      `must be none of ${takenVerbs.join(", ")}, the verbs of permissions on all resources`,
    );
    return [
      ...(same < index ? [twice] : []),
      ...(takenVerbs.includes(operation.verb) && !known.includes(operation.verb) ? [taken] : []),
      ...startProblems(operation, at),
      ...variableProblems(operation, at),
      ...concurrencyProblems(operation, at),
      ...violationsOf(operation, at, kinds),
    ];
  });
  violations.push(...missingVerbs(operations));
  if (violations.length > 0) throw invalidFields(violations);
}

/** The operations that each operation requires. */
const requiredWith: Readonly<Record<string, readonly string[]>> = {
  create: ["delete"],
  suspend: ["resume"],
  resume: ["suspend"],
  undelete: ["purge", "delete"],
  purge: ["undelete", "delete"],
};

function missingVerbs(operations: readonly OperationType[]): FieldViolation[] {
  const verbs = new Set(operations.map(({ verb }) => verb));
  return Object.entries(requiredWith)
    .flatMap(([verb, others]) => others.map((other) => [verb, other] as const))
    .filter(([verb, other]) => verbs.has(verb) && !verbs.has(other))
    .map(([verb, other]) =>
      violation("resource_type.operations", `must have an operation ${other}, because there is one for ${verb}`),
    );
}

/** The operations that the service itself starts: nobody is there to give variables. */
const startedByService: ReadonlySet<string> = new Set(["delete", "suspend", "resume"]);

function startProblems({ verb, quantities, qualities, references }: OperationType, at: string): FieldViolation[] {
  if (!startedByService.has(verb)) return [];
  const problemsOf = (list: string, variables: readonly { readonly required: boolean }[]) =>
    variables.flatMap(({ required }, index) =>
      required
        ? [violation(`${at}.${list}[${index}].required`, `must be false: the service itself can start ${verb}`)]
        : [],
    );
  // A quota could refuse the default, and nobody is there to read the error: all resources of the project would wait for this one.
  const defaults = quantities.flatMap(({ defaultAmount }, index) =>
    defaultAmount === undefined
      ? []
      : [violation(`${at}.quantities[${index}].default_amount`, `must be unset: the service itself can start ${verb}`)],
  );
  return [
    ...defaults,
    ...problemsOf("quantities", quantities),
    ...problemsOf("qualities", qualities),
    ...problemsOf("references", references),
  ];
}

/** The operations without variables: a resource that is restored has what it had. */
const withoutVariables: ReadonlySet<string> = new Set(["undelete", "purge"]);

function variableProblems(operation: OperationType, at: string): FieldViolation[] {
  const { verb, quantities, givenQuantities, qualities, givenQualities, references } = operation;
  if (!withoutVariables.has(verb)) return [];
  return Object.entries({
    quantities,
    given_quantities: givenQuantities,
    qualities,
    given_qualities: givenQualities,
    references,
  })
    .filter(([, variables]) => variables.length > 0)
    .map(([list]) => violation(`${at}.${list}`, `must be empty: ${verb} has no variables`));
}

/** The operations that run alone: they begin or end what others work on. */
const alwaysAlone: ReadonlySet<string> = new Set(["create", "delete", "undelete", "purge", "suspend", "resume"]);

/** What a resource holds of its quotas is settled at the end of an operation, which no other one may change meanwhile. */
function concurrencyProblems(operation: OperationType, at: string): FieldViolation[] {
  const { verb, concurrent, quantities, givenQuantities, qualities, givenQualities } = operation;
  if (!concurrent) return [];
  const lists = { quantities, given_quantities: givenQuantities, qualities, given_qualities: givenQualities };
  const used = Object.entries(lists).filter(([, variables]) => variables.length > 0);
  const problems = [
    ...(alwaysAlone.has(verb) ? [`${verb} always runs alone`] : []),
    ...used.map(([list]) => `the operation has ${list}, which one operation at a time can change`),
  ];
  return problems.map((problem) => violation(`${at}.concurrent`, `must be false: ${problem}`));
}

function violationsOf(operation: OperationType, at: string, kinds: Kinds): FieldViolation[] {
  const { quantities, givenQuantities, qualities, givenQualities, references } = operation;
  const ofQuantity = (each: QuantityVariable) => quantityProblems(each, kinds.steps.get(each.kind));
  const ofQuality = (each: QualityVariable) => qualityProblems(each, kinds.highestGrades.get(each.kind));
  return [
    ...checkList(`${at}.quantities`, quantities, ofQuantity),
    ...checkList(`${at}.given_quantities`, givenQuantities, ofQuantity),
    ...checkList(`${at}.qualities`, qualities, ofQuality),
    ...checkList(`${at}.given_qualities`, givenQualities, ofQuality),
    ...referenceProblems(references, `${at}.references`, kinds),
  ];
}

function referenceProblems(
  references: readonly ReferenceVariable[],
  at: string,
  { typePaths }: Kinds,
): FieldViolation[] {
  return references.flatMap(({ name, typePath }, index) => {
    const same = references.findIndex((each) => each.name === name);
    const problems: FieldViolation[] = [];
    if (same < index)
      problems.push(violation(`${at}[${index}].name`, `must differ from that of the reference ${same}`));
    if (!typePaths.has(typePath)) {
      const example = "/services/storage/resourceTypes/volumes";
      const problem = `must be the path of a ResourceType, as it is returned, such as ${example}; there is no ${typePath}`;
      problems.push(violation(`${at}[${index}].type_path`, problem));
    }
    return problems;
  });
}

function checkList<Each extends Variable>(
  at: string,
  variables: readonly Each[],
  problemsOf: (variable: Each) => readonly Problem[],
): FieldViolation[] {
  return variables.flatMap((variable, index) => {
    const same = variables.findIndex(({ kind }) => kind === variable.kind);
    const twice: Problem[] =
      same < index
        ? [["kind", `must differ from that of the variable ${same}: a list has one variable of a kind`]]
        : [];
    return [...twice, ...problemsOf(variable)].map(([field, description]) =>
      violation(`${at}[${index}].${field}`, description),
    );
  });
}

function quantityProblems(variable: QuantityVariable, kindStep: string | undefined): Problem[] {
  const { kind, required, minimum = 0, maximum, step, defaultAmount } = variable;
  if (kindStep === undefined)
    return [["kind", `must be the name of a QuantityKind; there is none named ${quote(kind)}`]];
  const problems: Problem[] = [];
  if (step !== undefined && !isMultipleOf(step, kindStep)) {
    problems.push(["step", `must be a multiple of ${kindStep}, the step of the QuantityKind ${kind}`]);
  }
  const least = String(step ?? kindStep);
  const check = (field: string, amount: number | undefined): void => {
    if (amount !== undefined && !isMultipleOf(amount, least)) problems.push([field, `must be a multiple of ${least}`]);
  };
  check("minimum", variable.minimum);
  check("maximum", maximum);
  check("default_amount", defaultAmount);
  if (maximum !== undefined && maximum < minimum)
    problems.push(["maximum", `must be at least the minimum, ${minimum}`]);
  if (defaultAmount === undefined) return problems;
  if (required) problems.push(["default_amount", "must be unset: a required Quantity has no default"]);
  if (defaultAmount < minimum || (maximum !== undefined && defaultAmount > maximum)) {
    problems.push(["default_amount", "must lie between the minimum and the maximum"]);
  }
  return problems;
}

function qualityProblems({ kind, maximum }: QualityVariable, highestGrade: number | undefined): Problem[] {
  if (highestGrade === undefined) {
    return [["kind", `must be the name of a QualityKind; there is none named ${quote(kind)}`]];
  }
  return maximum !== undefined && maximum > highestGrade
    ? [["maximum", `must be at most ${highestGrade}, the highest grade of the QualityKind ${kind}`]]
    : [];
}

/** Reads what operations may refer to: once for all types of a batch. */
export async function readKindsOf(db: Transaction<Schema>, operations: readonly OperationType[]): Promise<Kinds> {
  const namesOf = (variables: readonly Variable[]): string[] => [...new Set(variables.map(({ kind }) => kind))];
  const quantities = operations.flatMap((each) => [...each.quantities, ...each.givenQuantities]);
  const qualities = operations.flatMap((each) => [...each.qualities, ...each.givenQualities]);
  const quantityKinds = await findQuantityKinds(db, namesOf(quantities));
  const qualityKinds = await findQualityKinds(db, namesOf(qualities));
  const hasReferences = operations.some(({ references }) => references.length > 0);
  // A cloud has few types. Their schemas may be long.
  const names = ["services.name as service_name", "resource_types.name as name"] as const;
  const types = hasReferences ? await selectResourceTypes(db).clearSelect().select(names).execute() : [];
  return {
    steps: new Map(quantityKinds.map(({ name, step }) => [name, step])),
    highestGrades: new Map(qualityKinds.map(({ name, highest_grade }) => [name, highest_grade])),
    typePaths: new Set(types.map(resourceTypePath)),
  };
}

const violation = (field: string, description: string): FieldViolation => ({ field, description, rule: "operations" });

const quote = (text: string): string => JSON.stringify(text);
