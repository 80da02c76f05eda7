import type { Message } from "@bufbuild/protobuf";
import type { MethodImplSpec } from "@connectrpc/connect";
import type { RequestBinding } from "../binding/request-binding.ts";
import type { MethodConventions } from "../routing/method-conventions.ts";
import type { ResponseEncoder } from "./encode-response.ts";
import type { ListPages } from "./list-pages.ts";
import type { Preconditions } from "./preconditions.ts";
import type { Presentation } from "./system-parameters.ts";

/** Everything that is needed to serve a request that matches one rule. */
export interface Route {
  readonly spec: ServableSpec;
  readonly conventions: MethodConventions;
  /** Separates the system parameters from the query. */
  readonly splitQuery: (query: string) => { readonly query: string; readonly presentation: Presentation };
  readonly binding: RequestBinding;
  /** Writes `If-Match` into the request message. */
  readonly checkEtag: (message: Message, preconditions: Preconditions) => void;
  readonly response: ResponseEncoder;
  /** Of a list, which can be sent whole as lines; undefined for others. */
  readonly pages: ListPages | undefined;
  /** The headers of a deprecated method; undefined for others. */
  readonly deprecation: Readonly<Record<string, string>> | undefined;
  /** Returns the path of a created resource, for `Location`. */
  readonly locate: ((created: Message) => string | undefined) | undefined;
}

/** The kinds of methods that HTTP can carry: a request followed by a response. */
export type ServableSpec = Exclude<MethodImplSpec, { kind: "bidi_streaming" }>;
