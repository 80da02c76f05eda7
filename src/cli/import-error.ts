/** The reason why an import cannot start, for the user of the command. */
export class ImportError extends Error {
  override readonly name = "ImportError";
}
