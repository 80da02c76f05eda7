/**
 * The value that a comment gives: "for example `alice`". One with a placeholder in it, such as `@<id>`, is none.
 *
 * @returns the first value between backticks after "for example", as it is written.
 */
export function exampleIn(comment: string): string | undefined {
  const [, value] = /\bfor example `([^`]+)`/i.exec(comment) ?? [];
  return value === undefined || value.includes("<") ? undefined : value;
}
