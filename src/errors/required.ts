/** Returns a value that was checked before. @throws Error when the value is missing. */
export function required<Value>(value: Value | null | undefined): Value {
  if (value === null || value === undefined) throw new Error("a value that was checked earlier is missing");
  return value;
}
