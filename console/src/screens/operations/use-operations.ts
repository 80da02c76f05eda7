import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { type ListOperationsResponse, OperationsService } from "../../../../gen/resources/v1alpha/operation_pb.ts";
import { useLookAgain } from "./use-look-again.ts";

interface WantedOperations {
  /** Such as `/orgs/acme/projects/web`. */
  readonly parentPath: string;
  readonly filter: string;
  readonly pageSize: number;
  readonly pageToken: string;
  /** Whether the person may list them. */
  readonly enabled: boolean;
}

const isUnderWay = ({ operations }: ListOperationsResponse): boolean => operations.some(({ done }) => !done);

/** Lists operations, the latest first, and looks again while one of them is under way. */
export function useOperations({ enabled, ...wanted }: WantedOperations) {
  const refetchInterval = useLookAgain(isUnderWay);
  return useQuery(
    OperationsService.method.listOperations,
    { ...wanted, orderBy: "create_time desc" },
    {
      enabled,
      retry: false,
      placeholderData: keepPreviousData,
      refetchInterval,
    },
  );
}
