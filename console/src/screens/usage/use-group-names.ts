// What people call the orgs, projects, services and types by which usage is divided.
import { useQuery } from "@connectrpc/connect-query";
import { ServicesService } from "../../../../gen/resources/v1alpha/service_pb.ts";
import type { UsageGroup } from "../../app/usage-search.ts";
import { nameOf } from "../../calls/paths.ts";
import { useTypeNames } from "../../calls/use-catalog.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import { useOrgNames } from "../../calls/use-org-names.ts";
import { usageTexts } from "../../texts/usage-texts.ts";

type NameOf = (path: string) => string;

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

/** Returns names that are all different: what is deleted has an id in the place of a name, and what two have as a name has its path behind it. */
export function toDistinctNames(paths: readonly string[], displayNameOf: NameOf): ReadonlyMap<string, string> {
  const names = paths.map((path) => [path, plainName(path, displayNameOf)] as const);
  const counts = new Map<string, number>();
  for (const [, name] of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return new Map(names.map(([path, name]) => [path, counts.get(name) === 1 ? name : `${name} (${path.slice(1)})`]));
}

function plainName(path: string, displayNameOf: NameOf): string {
  return isDeleted(path) ? usageTexts.deleted(nameOf(path).slice(-idEnd)) : displayNameOf(path);
}

/** So much of an id tells two apart. */
const idEnd = 8;

export const isDeleted = (path: string): boolean => nameOf(path).startsWith("@");
