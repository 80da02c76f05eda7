// Fails if a standard method differs from the form of its verb (scripts/proto-forms/forms.ts).
import { buildImage } from "./proto-forms/image.ts";
import { checkForms, formatDifference } from "./proto-forms/check-forms.ts";

const differences = checkForms(buildImage());
for (const difference of differences) console.error(formatDifference(difference));
if (differences.length > 0) process.exitCode = 1;
