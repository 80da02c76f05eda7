import { useQuery } from "@connectrpc/connect-query";
import { OrgsService } from "../../../gen/iam/v1alpha/org_pb.ts";
import { nameOf } from "./paths.ts";
import { ofCustomer } from "./use-choices.ts";

/** How long a name that was read is shown without reading it again. */
const staleTime = 60_000;

/** Returns what people call orgs of a customer, which are found all at once; one that the person may not see is called what its path says. */
export function useOrgNames(customer: string, paths: readonly string[]): (path: string) => string {
  const wanted = [...new Set(paths.map(nameOf))].toSorted();
  const conditions = wanted.map((name) =>
    name.startsWith("@") ? `id = ${JSON.stringify(name.slice(1))}` : `name = ${JSON.stringify(name)}`,
  );
  const request = { pageSize: wanted.length, filter: `${ofCustomer(customer)} AND (${conditions.join(" OR ")})` };
  const options = { enabled: wanted.length > 0, retry: false, staleTime };
  const { data } = useQuery(OrgsService.method.listOrgs, request, options);
  return (path) => {
    const name = nameOf(path);
    const org = data?.orgs.find((each) => name === each.name || name === `@${each.id}`);
    return org === undefined ? name : org.displayName || org.name;
  };
}
