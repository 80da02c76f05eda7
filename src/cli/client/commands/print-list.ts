import type { Method } from "../contract/contract.ts";
import type { Host } from "../host.ts";
import type { Call, Service } from "../http/service.ts";
import { recordOf, stringOf } from "../http/service-error.ts";
import { type PrintOptions, printItems } from "../output/print-items.ts";

/** The service sends at most so many. */
const maxPageSize = 1_000;
/** What a page of a list has that is read whole: the first lines come soon, and few calls are needed. */
const usualPageSize = 200;

interface ListCall {
  readonly request: Call;
  readonly method: Pick<Method, "items" | "body">;
  /** Stop after so many items; undefined for all. */
  readonly limit: number | undefined;
}

/** Prints all pages of a list. */
export async function printList(host: Host, service: Service, list: ListCall, options: PrintOptions): Promise<void> {
  const printer = printItems(host, options);
  for await (const items of readPages(service, list)) printer.page(items);
  printer.end();
}

/** Returns the items of a list page by page. */
async function* readPages(service: Service, { request, method, limit }: ListCall): AsyncGenerator<readonly unknown[]> {
  let left = limit ?? Infinity;
  let token: string | undefined;
  const given = Number(request.query?.["page_size"] ?? recordOf(request.body)?.["page_size"]);
  const pageSize = Number.isNaN(given) ? usualPageSize : given;
  do {
    const page = {
      page_size: Math.min(pageSize, left, maxPageSize),
      ...(token !== undefined && { page_token: token }),
    };
    const answer = recordOf(await service.call(withPage(request, page, method)));
    const items = answer?.[method.items ?? ""];
    const found = Array.isArray(items) ? (items as readonly unknown[]).slice(0, left) : [];
    left -= found.length;
    yield found;
    token = stringOf(answer?.["next_page_token"]);
  } while (token !== undefined && token !== "" && left > 0);
}

function withPage(
  request: Call,
  page: Readonly<Record<string, string | number>>,
  { body }: Pick<Method, "body">,
): Call {
  // What reads with POST can be repeated as well.
  if (body === "*") return { ...request, body: { ...recordOf(request.body), ...page }, isRepeatable: true };
  const texts = Object.fromEntries(Object.entries(page).map(([name, value]) => [name, String(value)]));
  return { ...request, query: { ...request.query, ...texts } };
}
