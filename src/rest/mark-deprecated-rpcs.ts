import type { DescService } from "@bufbuild/protobuf";
import type { RestRequest, RestResponse } from "./calls/call-context.ts";
import { setHeaders } from "./calls/send-response.ts";
import { type DeprecationOf, deprecationHeaders } from "./deprecation.ts";

/**
 * Returns a function that sets the headers of deprecated methods on the responses to Connect, gRPC and gRPC-Web requests, to
 * errors as well, before these are handled. `createRestHandler` does the same for REST.
 */
export function markDeprecatedRpcs(
  services: readonly DescService[],
  deprecationOf: DeprecationOf,
): (request: RestRequest, response: RestResponse) => void {
  const headersByPath = new Map<string, Readonly<Record<string, string>>>();
  for (const method of services.flatMap((service) => service.methods)) {
    const deprecation = deprecationOf(method);
    if (deprecation === undefined) continue;
    headersByPath.set(`/${method.parent.typeName}/${method.name}`, deprecationHeaders(deprecation));
  }
  return (request, response) => {
    if (headersByPath.size === 0) return;
    const [path = ""] = (request.url ?? "").split("?");
    const headers = headersByPath.get(path);
    if (headers !== undefined) setHeaders(response, headers);
  };
}
