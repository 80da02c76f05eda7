import type { HttpRequest, HttpResponse } from "./http-messages.ts";
import { answerJson, refuseOtherMethods } from "./plain-error.ts";
import { requestPathOf } from "./request-path.ts";

/**
 * Serves `/` without authentication: where the areas of the API and its documents are. Returns false, without touching the
 * response, for any other path.
 *
 * @param areas the paths with which each area begins: `/iam/v1alpha/`.
 */
export function answerIndexPage(areas: readonly string[], request: HttpRequest, response: HttpResponse): boolean {
  if (requestPathOf(request.url ?? "") !== "/") return false;
  if (refuseOtherMethods(request, response, "/")) return true;
  const documents = { documentation: "/docs", openapi: "/openapi.json" };
  const bundle = { protos: "/protos.tar.gz", descriptors: "/descriptors.binpb" };
  answerJson(response, 200, JSON.stringify({ areas, ...documents, ...bundle }));
  return true;
}
