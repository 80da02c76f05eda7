// Compares what two objects consist of: their properties and, which only a debugger sees, the variables of their functions.
import { Session } from "node:inspector";

/** The names of variables and properties to leave out, as `function.variable` or `.property`. */
type LeftOut = ReadonlySet<string>;

interface Compared {
  /** Where the two differ. */
  readonly differences: readonly string[];
  /** All variables that were compared. */
  readonly variables: ReadonlySet<string>;
}

interface RemoteObject {
  readonly type: string;
  readonly description?: string;
  readonly objectId?: string;
  readonly value?: unknown;
  readonly unserializableValue?: string;
}

interface Properties {
  readonly result: readonly { readonly name: string; readonly value?: RemoteObject }[];
  readonly internalProperties?: readonly { readonly name: string; readonly value?: RemoteObject }[];
}

interface Evaluated {
  readonly result: RemoteObject;
}

/** Where the debugger puts what is asked about. */
const exchange = globalThis as { asked?: unknown };

export function compareVariables(one: object, other: object, leftOut: LeftOut): Compared {
  const session = new Session();
  session.connect();
  try {
    const comparison = createComparison(createReadVariables(session), leftOut);
    comparison.compare(one, other, "");
    return comparison;
  } finally {
    session.disconnect();
    delete exchange.asked;
  }
}

function createComparison(variablesOf: (value: () => unknown) => Map<string, unknown>, leftOut: LeftOut) {
  const differences: string[] = [];
  const variables = new Set<string>();
  const seen = new WeakSet<object>();

  function compareAll(one: Iterable<[string, unknown]>, other: Iterable<[string, unknown]>, path: string): void {
    const [ours, theirs] = [[...one], [...other]];
    if (ours.length !== theirs.length) differences.push(`${path}: ${ours.length} and ${theirs.length} elements`);
    for (const [index, [name, value]] of ours.entries()) {
      const [otherName, otherValue] = theirs[index] ?? [];
      if (name !== otherName) differences.push(`${path}: ${name} and ${otherName}`);
      else compare(value, otherValue, `${path}${name}`);
    }
  }

  function compareVariablesOf(one: () => unknown, other: () => unknown): void {
    const theirs = variablesOf(other);
    for (const [name, value] of variablesOf(one)) {
      if (leftOut.has(name)) continue;
      variables.add(name);
      compare(value, theirs.get(name), name);
    }
  }

  function compare(one: unknown, other: unknown, path: string): void {
    if (Object.is(one, other)) return;
    if (!isObject(one) || !isObject(other) || Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) {
      differences.push(`${path}: ${String(one)} and ${String(other)}`);
      return;
    }
    if (seen.has(one)) return;
    seen.add(one);
    if (typeof one === "function") compareVariablesOf(one as () => unknown, other as () => unknown);
    else if (ArrayBuffer.isView(one)) compareBytes(one, other as ArrayBufferView, path);
    else if (one instanceof Map || one instanceof Set)
      compareAll(entriesOf(one), entriesOf(other as Set<unknown>), path);
    else compareAll(propertiesOf(one, leftOut), propertiesOf(other, leftOut), path);
  }

  function compareBytes(one: ArrayBufferView, other: ArrayBufferView, path: string): void {
    const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView) =>
      Buffer.from(buffer, byteOffset, byteLength);
    if (!bytesOf(one).equals(bytesOf(other))) differences.push(`${path}: the contents of an array`);
  }

  return { compare, differences, variables };
}

const isObject = (value: unknown): value is object =>
  (typeof value === "object" && value !== null) || typeof value === "function";

function entriesOf(collection: Map<unknown, unknown> | Set<unknown>): [string, unknown][] {
  return [...collection].map((entry, index) => [`[${index}]`, entry]);
}

function propertiesOf(object: object, leftOut: LeftOut): [string, unknown][] {
  return Object.entries(Object.getOwnPropertyDescriptors(object))
    .filter(([name]) => !leftOut.has(`.${name}`))
    .map(([name, { get, value }]) => [`.${name}`, get ?? value]);
}

/** Returns a function that reads the variables of the functions around a function, whose names start with `create`. */
function createReadVariables(session: Session): (value: () => unknown) => Map<string, unknown> {
  const post = (method: string, parameters: object): object => {
    let answer: object | undefined;
    session.post(method, parameters, (error: Error | null, found?: object) => {
      if (error !== null) throw error;
      answer = found;
    });
    if (answer === undefined) throw new Error("the debugger has not answered at once");
    return answer;
  };
  const propertiesById = (objectId: string | undefined): Properties =>
    post("Runtime.getProperties", { objectId, ownProperties: true }) as Properties;

  /** Hands all values over in one call, which takes most of the time. */
  const localValues = (values: readonly RemoteObject[]): readonly unknown[] => {
    const given = values.map(({ objectId, unserializableValue, value }) => ({ objectId, unserializableValue, value }));
    const { result } = post("Runtime.evaluate", { expression: "globalThis" }) as Evaluated;
    const functionDeclaration = "function (...values) { globalThis.asked = values; }";
    post("Runtime.callFunctionOn", { objectId: result.objectId, functionDeclaration, arguments: given });
    return exchange.asked as readonly unknown[];
  };

  return (asked) => {
    exchange.asked = asked;
    const { result } = post("Runtime.evaluate", { expression: "globalThis.asked" }) as Evaluated;
    const { internalProperties = [] } = propertiesById(result.objectId);
    const scopes = internalProperties.find(({ name }) => name === "[[Scopes]]")?.value;
    const found = new Map<string, unknown>();
    for (const { value: scope } of scopes === undefined ? [] : propertiesById(scopes.objectId).result) {
      const name = /^Closure \((create\w+)\)$/.exec(scope?.description ?? "")?.[1];
      if (name === undefined) continue;
      const variables = propertiesById(scope?.objectId).result;
      const values = localValues(variables.map(({ value = { type: "undefined" } }) => value));
      for (const [index, variable] of variables.entries()) found.set(`${name}.${variable.name}`, values[index]);
    }
    return found;
  };
}
