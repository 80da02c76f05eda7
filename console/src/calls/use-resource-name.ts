import { useQuery } from "@connectrpc/connect-query";
import { ResourcesService } from "../../../gen/resources/v1alpha/resource_pb.ts";

/**
 * Returns what people call a resource; its path until that is read, and for people who may not read it.
 *
 * @param mayRead whether the person may read resources of every type.
 */
export function useResourceName(path: string, mayRead: boolean): string {
  const { data } = useQuery(ResourcesService.method.getResource, { path }, { enabled: mayRead, retry: false });
  return data?.displayName || data?.name || path;
}
