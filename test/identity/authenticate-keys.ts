import type { Database } from "../../src/database/database.ts";
import { createRecentOrgs } from "../../src/identity/recent-orgs.ts";
import { type Authenticate, createAuthenticate } from "../../src/identity/authenticate.ts";
import { createCallerLookup } from "../../src/identity/caller-lookup.ts";
import type { Caller } from "../../src/identity/caller.ts";

/** Authenticates callers with API keys alone. */
export function authenticateKeys(
  database: Database,
  recentOrgs = createRecentOrgs(),
  onUse: (caller: Caller) => void = () => {},
): Authenticate {
  const findCaller = createCallerLookup({ database, recentOrgs });
  return createAuthenticate({ findCaller, authenticateToken: () => Promise.resolve(undefined), onUse });
}
