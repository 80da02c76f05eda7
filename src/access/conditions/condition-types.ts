// What a condition may use: its variables, operators and functions, with their parameter and result types. `dyn` is the type of
// values that are known only at evaluation: the attributes that the caller of a check sends.
import { timeParts } from "./condition-clock.ts";

export type ConditionType =
  | "bool"
  | "bytes"
  | "double"
  | "duration"
  | "dyn"
  | "int"
  | "list"
  | "map"
  | "null"
  | "string"
  | "timestamp"
  | "uint"
  | "request"
  | "resource"
  | "subject";

/** The parameter types and the result type of a function. The first parameter of a method is its receiver. */
interface Overload {
  readonly takes: readonly ConditionType[];
  readonly answers: ConditionType;
}

const overload = (answers: ConditionType, ...takes: readonly ConditionType[]): Overload => ({ takes, answers });

/** The variables of an expression, with their types. */
export type Variables = Readonly<Record<string, ConditionType>>;

/** Those of a condition. */
export const variables: Variables = {
  request: "request",
  resource: "resource",
  subject: "subject",
  context: "dyn",
};

export const fields: Readonly<Partial<Record<ConditionType, Readonly<Record<string, ConditionType>>>>> = {
  request: { time: "timestamp" },
  resource: { path: "string", labels: "map" },
  subject: { path: "string", type: "string" },
};

const numbers = ["int", "uint", "double"] as const;
const arithmetic = numbers.map((type) => overload(type, type, type));
const comparison = [
  ...numbers.flatMap((one) => numbers.map((other) => overload("bool", one, other))),
  ...(["string", "timestamp", "duration", "bool"] as const).map((type) => overload("bool", type, type)),
];
const size = [overload("int", "string"), overload("int", "list"), overload("int", "map")];

/** Operators by the parser's names for them. Operators that accept any type are in any-type-operators.ts. */
export const operators: Readonly<Record<string, readonly Overload[]>> = {
  "_&&_": [overload("bool", "bool", "bool")],
  "_||_": [overload("bool", "bool", "bool")],
  "!_": [overload("bool", "bool")],
  "-_": [overload("int", "int"), overload("double", "double")],
  "_+_": [
    ...arithmetic,
    overload("string", "string", "string"),
    overload("timestamp", "timestamp", "duration"),
    overload("timestamp", "duration", "timestamp"),
    overload("duration", "duration", "duration"),
  ],
  "_-_": [
    ...arithmetic,
    overload("duration", "timestamp", "timestamp"),
    overload("timestamp", "timestamp", "duration"),
    overload("duration", "duration", "duration"),
  ],
  "_*_": arithmetic,
  "_/_": arithmetic,
  "_%_": arithmetic.slice(0, 2),
  "_<_": comparison,
  "_<=_": comparison,
  "_>_": comparison,
  "_>=_": comparison,
  "_[_]": [overload("string", "map", "string"), overload("dyn", "list", "int"), overload("dyn", "dyn", "string")],
};

export const functions: Readonly<Record<string, readonly Overload[]>> = {
  size,
  string: (["string", "bool", "int", "uint", "double", "timestamp", "duration"] as const).map((type) =>
    overload("string", type),
  ),
  int: [...numbers, "string", "timestamp", "duration"].map((type) => overload("int", type as ConditionType)),
  double: [...numbers, "string"].map((type) => overload("double", type as ConditionType)),
  timestamp: [overload("timestamp", "string"), overload("timestamp", "timestamp")],
  duration: [overload("duration", "string"), overload("duration", "duration")],
};

const partOfDuration = [overload("int", "duration")];

export const methods: Readonly<Record<string, readonly Overload[]>> = {
  size,
  startsWith: [overload("bool", "string", "string")],
  endsWith: [overload("bool", "string", "string")],
  contains: [overload("bool", "string", "string")],
  ...Object.fromEntries(
    timeParts.map((name) => [
      name,
      [
        overload("int", "timestamp"),
        overload("int", "timestamp", "string"),
        ...(/Hours|Minutes|Seconds|Milliseconds/.test(name) ? partOfDuration : []),
      ],
    ]),
  ),
};

/** Returns the result type of a call: `dyn` if the matching overloads differ in it, undefined if no overload matches. */
export function resolveCall(
  overloads: readonly Overload[],
  given: readonly ConditionType[],
): ConditionType | undefined {
  const fitting = overloads.filter(
    ({ takes }) =>
      takes.length === given.length && takes.every((type, index) => type === given[index] || given[index] === "dyn"),
  );
  const answers = new Set(fitting.map(({ answers: type }) => type));
  const [first] = answers;
  return answers.size > 1 ? "dyn" : first;
}

export function areComparable(one: ConditionType, other: ConditionType): boolean {
  const kind = (type: ConditionType): string => (numbers.some((number) => number === type) ? "number" : type);
  return one === "dyn" || other === "dyn" || one === "null" || other === "null" || kind(one) === kind(other);
}
