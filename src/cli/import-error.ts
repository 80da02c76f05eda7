/** Why an import cannot start, in words for whoever gave the command. */
export class ImportError extends Error {
  override readonly name = "ImportError";
}
