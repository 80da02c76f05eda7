/**
 * Calls a function with a value, or with what a promise resolves to, and returns its result. With a value, it makes no promise: a promise
 * and the function that awaits it cost as much as many a step of a call.
 */
export function whenReady<Value, Result>(
  value: Value | Promise<Value>,
  next: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then(next) : next(value);
}
