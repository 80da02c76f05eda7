import { ConnectError, type HandlerContext } from "@connectrpc/connect";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { type ErrorReason, ServiceError, invalidFields } from "../errors/service-error.ts";

type Search<Request, Found> = (request: Request, context: HandlerContext) => Promise<Found>;

const reason = "PAGE_TOKEN_INVALID" satisfies ErrorReason;

/** Returns a search whose error about a page token has the names of AuthZEN. The pages themselves are those of lists. */
export function namePageFields<Request, Found>(search: Search<Request, Found>): Search<Request, Found> {
  return async (request, context) => {
    try {
      return await search(request, context);
    } catch (error) {
      if (reasonOf(error) !== reason) throw error;
      const description = "must be the next_token of an earlier response to the same request (only limit may differ)";
      throw invalidFields([{ field: "page.token", description, rule: "page_token" }], reason);
    }
  };
}

/** Returns the reason of an error of this process, or of a call in it. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof ServiceError) return error.reason;
  return error instanceof ConnectError ? error.findDetails(ErrorInfoSchema)[0]?.reason : undefined;
}
