/** Thrown for a value whose type is right, but not its content. Other errors of readers are described by the type of the field. */
export class RefusedValue extends Error {
  override readonly name = "RefusedValue";
  /** What would be accepted and what was given, as a sentence that continues after the name of the field. */
  readonly description: string;

  constructor(description: string) {
    super(`cannot decode a value from JSON: it ${description}`);
    this.description = description;
  }
}
