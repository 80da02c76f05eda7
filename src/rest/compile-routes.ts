import type { Message, Registry } from "@bufbuild/protobuf";
import type { MethodImplSpec } from "@connectrpc/connect";
import { type BindingOptions, compileRequestBinding, type RequestBinding } from "./binding/request-binding.ts";
import { compileResponseEncoder, type ResponseEncoder } from "./calls/encode-response.ts";
import { compileLocator } from "./calls/locate-created.ts";
import { compileEtagCheck, type Preconditions } from "./calls/preconditions.ts";
import { compileSystemParameters, type Presentation } from "./calls/system-parameters.ts";
import { createJsonWriters } from "./json/write-json.ts";
import { type HttpRule, nameOf, readHttpRules } from "./routing/http-rules.ts";
import { type MethodConventions, readConventions } from "./routing/method-conventions.ts";
import { parsePathTemplate, type PathTemplate } from "./routing/path-template.ts";
import { createRouteTrie, type RouteTrie } from "./routing/route-trie.ts";

/** All that is needed to answer a request that one rule matches. */
export interface Route {
  readonly spec: ServableSpec;
  readonly conventions: MethodConventions;
  /** Takes what is not for the method out of a query. */
  readonly splitQuery: (query: string) => { readonly query: string; readonly presentation: Presentation };
  readonly binding: RequestBinding;
  /** Writes `If-Match` into the request message. */
  readonly checkEtag: (message: Message, preconditions: Preconditions) => void;
  readonly response: ResponseEncoder;
  /** Tells where what a Create answers can be read. */
  readonly locate: ((created: Message) => string | undefined) | undefined;
}

/** The methods that HTTP can carry: a request, then an answer. */
export type ServableSpec = Exclude<MethodImplSpec, { kind: "bidi_streaming" }>;

export interface RouteOptions extends BindingOptions {
  readonly alwaysEmitImplicit: boolean;
  readonly registry: Registry | undefined;
  readonly systemParameters: readonly string[];
}

/**
 * Compiles the rules of all methods; methods without a rule are left out.
 *
 * @throws Error that names the method and its rule when a rule is wrong, two rules match the same paths, or a method that
 *   streams both ways has one.
 */
export function compileRoutes(methods: readonly MethodImplSpec[], options: RouteOptions): RouteTrie<Route> {
  const trie = createRouteTrie<Route>();
  const writers = createJsonWriters(options);
  const rules = methods.flatMap((spec) => readRules(spec));
  const reads = rules
    .filter(({ rule }) => rule.httpMethod === "GET")
    .map(({ spec, template }) => ({ method: spec.method, template }));
  for (const { spec, rule, template } of rules) {
    const { method } = spec;
    const conventions = readConventions(method, rule, template.verb);
    const response = compileResponseEncoder(method.output, rule.responseBody, rule.name, writers);
    const route: Route = {
      spec,
      conventions,
      splitQuery: compileSystemParameters(method.input, options.systemParameters, (paths) =>
        response.selectFields(paths),
      ),
      binding: compileRequestBinding(method.input, rule, template, options),
      checkEtag: compileEtagCheck(conventions.etagCheck),
      response,
      locate: conventions.creates ? compileLocator(method, reads) : undefined,
    };
    trie.add(rule.httpMethod, template, route, nameOf(method));
  }
  return trie;
}

interface ParsedRule {
  readonly spec: ServableSpec;
  readonly rule: HttpRule;
  readonly template: PathTemplate;
}

function readRules(spec: MethodImplSpec): ParsedRule[] {
  return readHttpRules(spec.method).map((rule) => {
    if (spec.kind === "bidi_streaming") {
      const why =
        "HTTP/1.1 answers when a request has ended, so no method that streams both ways can be called over REST";
      throw new Error(`${rule.name}: ${why}`);
    }
    return { spec, rule, template: parsePathTemplate(rule.path) };
  });
}
