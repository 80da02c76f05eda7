/** Something that is not a schema, or one that is not supported. The message starts with where: `#/properties/zone/pattern`. */
export class SchemaError extends Error {
  override readonly name = "SchemaError";

  constructor(location: string, problem: string) {
    super(`${location}: ${problem}`);
  }
}
