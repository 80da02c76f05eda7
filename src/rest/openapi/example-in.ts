/**
 * Extracts the example from a comment: "for example `alice`".
 *
 * @returns the first value between backticks after "for example"; undefined if there is none or if it contains a
 *   placeholder, such as `@<id>`.
 */
export function exampleIn(comment: string): string | undefined {
  const [, value] = /\bfor example `([^`]+)`/i.exec(comment) ?? [];
  return value === undefined || value.includes("<") ? undefined : value;
}
