/** The result of a function, or the fact that it threw. */
export type Outcome<T> = { readonly value: T } | "thrown";

export function outcomeOf<T>(run: () => T): Outcome<T> {
  try {
    return { value: run() };
  } catch {
    return "thrown";
  }
}
