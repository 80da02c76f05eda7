/** Narrows what the validation has made sure of. */
export function required<Value>(value: Value | null | undefined): Value {
  if (value === null || value === undefined) throw new Error("a value is missing that was checked before");
  return value;
}
