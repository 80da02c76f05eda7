// Authenticates the callers of checks: by the database, or from memory while it is away. What memory knows refuses nobody: whoever it does not
// accept is answered by the database, or not at all.
import type { DatabaseReach } from "../../database/reach.ts";
import { isDatabaseUnavailable } from "../../database/failure.ts";
import { ServiceError } from "../../errors/service-error.ts";
import type { Authenticate } from "../../identity/authenticate.ts";

/**
 * @param exact authenticates by the database.
 * @param held authenticates from memory.
 */
export function createAuthenticateInReach(
  reach: Pick<DatabaseReach, "confirmAway" | "isAway">,
  exact: Authenticate,
  held: Authenticate,
): Authenticate {
  return async (...credential) => {
    let failure: unknown;
    if (!reach.isAway()) {
      try {
        return await exact(...credential);
      } catch (error) {
        if (!(await reach.confirmAway(error))) throw error;
        failure = error;
      }
    }
    try {
      return await held(...credential);
    } catch (error) {
      if (!(error instanceof ServiceError) && !isDatabaseUnavailable(error)) throw error;
      if (failure !== undefined) throw failure;
      return exact(...credential);
    }
  };
}
