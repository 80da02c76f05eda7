import { useQuery } from "@connectrpc/connect-query";
import { type Org, OrgsService } from "../../../gen/iam/v1alpha/org_pb.ts";
import { isFinal } from "./is-final.ts";
import { usePermissions } from "./use-permissions.ts";

export const readOrg = "iam.orgs.get";

/** How long an org that could not be read is left alone. */
const againMs = 5_000;

interface ReadOrg {
  /** Undefined until it is read. */
  readonly org: Org | undefined;
  /** Whether the person may not read it. */
  readonly isHidden: boolean;
}

/**
 * Reads an org for people who may: what is refused is in its security log. What fails for another reason is asked for again.
 *
 * @param path empty while it is not known which.
 */
export function useOrg(path: string): ReadOrg {
  const may = usePermissions(path, [readOrg], path !== "").may(readOrg);
  const { data, error } = useQuery(
    OrgsService.method.getOrg,
    { path },
    {
      enabled: path !== "" && may === true,
      refetchInterval: ({ state: { error: last } }) => last !== null && !isFinal(last) && againMs,
    },
  );
  return { org: data, isHidden: may === false || isFinal(error) };
}
