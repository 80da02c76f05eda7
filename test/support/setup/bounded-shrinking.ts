// fast-check looks for a smaller example of a failure as long as it finds any. For a message of many fields this takes hours, and a
// property that does not wait for anything keeps its worker from ending the test after its timeout.
import fc from "fast-check";
import { rounds, soakTimeoutMs } from "../rounds.ts";

/** No property takes a tenth of it on a slow and busy machine. */
const limitMs = rounds(240_000, soakTimeoutMs);

fc.configureGlobal({ interruptAfterTimeLimit: limitMs, markInterruptAsFailure: true });
