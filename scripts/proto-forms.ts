// Fails if a file lacks what generators need (scripts/proto-forms/check-files.ts), if a field does not say how requests use it or
// what it refers to (scripts/proto-forms/check-fields.ts), or if a standard method differs from the form of its verb
// (scripts/proto-forms/forms.ts).
import { checkFields } from "./proto-forms/check-fields.ts";
import { checkFiles } from "./proto-forms/check-files.ts";
import { buildImage } from "./proto-forms/image.ts";
import { checkForms, formatDifference } from "./proto-forms/check-forms.ts";

const image = buildImage();
const differences = [...checkFiles(image), ...checkFields(image), ...checkForms(image)];
for (const difference of differences) console.error(formatDifference(difference));
if (differences.length > 0) process.exitCode = 1;
