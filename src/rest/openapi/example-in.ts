/** Stands for `<id>` in the examples of paths. */
const exampleId = "01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4b";

/**
 * Extracts the example from a comment: "for example `alice`".
 *
 * @returns the first value between backticks after "for example"; undefined if there is none or if it contains a
 *   placeholder other than `@<id>`.
 */
export function exampleIn(comment: string): string | undefined {
  const [, value] = /\bfor example `([^`]+)`/i.exec(comment) ?? [];
  const filled = value?.replaceAll("@<id>", `@${exampleId}`);
  return filled?.includes("<") === true ? undefined : filled;
}
