import { ServiceError } from "../../src/errors/service-error.ts";

/** What `run` gives, or the ServiceError that it throws; anything else that it throws goes on. */
export function outcomeOf<Result>(run: () => Result): Result | ServiceError {
  try {
    return run();
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

/** The ServiceError that `run` throws; fails the test when it throws none. */
export function thrownBy(run: () => unknown): ServiceError {
  const outcome = outcomeOf(run);
  if (outcome instanceof ServiceError) return outcome;
  throw new Error("nothing was thrown");
}

/** The same for a promise. */
export async function rejectionOf(call: Promise<unknown>): Promise<ServiceError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error("the call went through");
}
