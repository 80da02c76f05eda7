import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { containsPrefix } from "../../identity/address-prefix.ts";

/**
 * Checks that a credential which the author makes is accepted from no address from which the credential of the call is not.
 *
 * @param addresses the prefixes from which it is accepted; null for everywhere.
 * @throws ServiceError GRANT_EXCEEDS_OWN
 */
export function requireAddressesWithin(
  { author: { allowedAddresses } }: OrgTransaction,
  addresses: readonly string[] | null,
): void {
  if (allowedAddresses === undefined) return;
  if (addresses?.every((each) => containsPrefix(allowedAddresses, each))) return;
  throw new ServiceError(
    "GRANT_EXCEEDS_OWN",
    "with an API key or token that has allowed addresses, nobody can create, rotate or confirm an API key that is accepted from other addresses, or create an identity",
    { metadata: { allowed_addresses: allowedAddresses.join(", ") } },
  );
}
