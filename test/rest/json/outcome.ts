/** What a function gives, or that it throws. */
type Outcome<T> = { readonly value: T } | "thrown";

export function outcomeOf<T>(run: () => T): Outcome<T> {
  try {
    return { value: run() };
  } catch {
    return "thrown";
  }
}
