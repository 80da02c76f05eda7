/**
 * Calls a function with a value that may have to be waited for, and returns its result. Calls it at once if not: a promise, and the
 * function that waits for it, cost as much as many a step of a call.
 */
export function whenReady<Value, Result>(
  value: Value | Promise<Value>,
  next: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then(next) : next(value);
}
