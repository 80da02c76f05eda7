// Runs before each file of tests, unlike the module that it calls, which a worker loads once.
import { endThisFile } from "../end-of-file.ts";

endThisFile();
