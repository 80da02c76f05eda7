// What people call the orgs, projects, services and types by which usage is divided.
import { useQuery } from "@connectrpc/connect-query";
import { ServicesService } from "../../../../gen/resources/v1alpha/service_pb.ts";
import type { UsageGroup } from "../../app/usage-search.ts";
import { nameOf } from "../../calls/paths.ts";
import { useTypeNames } from "../../calls/use-catalog.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import { useOrgNames } from "../../calls/use-org-names.ts";
import { usageTexts } from "../../texts/usage-texts.ts";
import type { NameOf } from "./distinct-names.ts";

/** Returns what people call some things. Called as a hook. */
type UseNames = (parentPath: string, paths: readonly string[]) => NameOf;

/** The most services that are known. Others are called by their names in paths. */
const pageSize = 1_000;

/** By what amounts are divided by; `none` if they are not. */
export const useNamesBy: Readonly<Record<UsageGroup | "none", UseNames>> = {
  none: () => () => usageTexts.all,
  org: useOrgNames,
  project: (_, paths) => useDisplayNames(paths),
  service: () => {
    const { data } = useQuery(ServicesService.method.listServices, { pageSize }, { retry: false });
    const names = new Map((data?.services ?? []).map(({ path, displayName }) => [path, displayName]));
    return (path) => names.get(path) || nameOf(path);
  },
  type: () => useTypeNames(),
};
