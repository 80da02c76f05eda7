import { type DescMethod, type Message, isMessage } from "@bufbuild/protobuf";
import {
  AccessService,
  BatchCheckAccessRequestSchema,
  type CheckAccessRequest,
  CheckAccessRequestSchema,
} from "../../../gen/iam/v1alpha/access_pb.ts";
import { readStaleness } from "./read-check-request.ts";

const { checkAccess, batchCheckAccess } = AccessService.method;

/** The methods that may be answered from memory while the database is away. */
export const methodsAway: ReadonlySet<DescMethod> = new Set<DescMethod>([checkAccess, batchCheckAccess]);

/** Returns how old the answers to a request for one of these methods may be, in milliseconds: 0 if one of its checks does not say so. */
export function stalenessOf(message: Message): number {
  if (isMessage(message, CheckAccessRequestSchema)) return ofCheck(message);
  return isMessage(message, BatchCheckAccessRequestSchema) ? Math.min(...message.checks.map(ofCheck)) : 0;
}

const ofCheck = ({ maxStaleness }: CheckAccessRequest): number => readStaleness(maxStaleness, "")?.maxMs ?? 0;
