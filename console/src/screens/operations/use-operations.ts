import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { OperationsService } from "../../../../gen/resources/v1alpha/operation_pb.ts";
import { lookingAgainWhile } from "./look-again.ts";

interface WantedOperations {
  /** Such as `/orgs/acme/projects/web`. */
  readonly parentPath: string;
  readonly filter: string;
  readonly pageToken: string;
  /** Whether the person may list them. */
  readonly enabled: boolean;
}

/** Lists operations, the latest first, and looks again while one of them is under way. */
export function useOperations({ enabled, ...wanted }: WantedOperations) {
  return useQuery(
    OperationsService.method.listOperations,
    { ...wanted, pageSize: 50, orderBy: "create_time desc" },
    {
      enabled,
      retry: false,
      placeholderData: keepPreviousData,
      refetchInterval: lookingAgainWhile(({ operations }) => operations.some(({ done }) => !done)),
    },
  );
}
