// Runs before each file of tests. RECORD_STATEMENTS names the folder for a record of the statements of all files.
const folder = process.env["RECORD_STATEMENTS"];
if (folder !== undefined) {
  const { recordStatements } = await import("../record-statements.ts");
  recordStatements(folder);
}
