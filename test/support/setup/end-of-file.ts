// Runs before each file of tests.
import { endThisFile } from "../end-of-file.ts";

endThisFile();
