import { ServiceError } from "../../src/errors/service-error.ts";

/** Returns the result of `run`, or the ServiceError that it throws. Other errors are rethrown. */
export function outcomeOf<Result>(run: () => Result): Result | ServiceError {
  try {
    return run();
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

/** Returns the ServiceError that `run` throws. Fails if it throws none. */
export function thrownBy(run: () => unknown): ServiceError {
  const outcome = outcomeOf(run);
  if (outcome instanceof ServiceError) return outcome;
  throw new Error("nothing was thrown");
}

/** Like `thrownBy`, for a promise. */
export async function rejectionOf(call: Promise<unknown>): Promise<ServiceError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error("the call went through");
}
