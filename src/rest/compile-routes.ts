import type { MethodImplSpec } from "@connectrpc/connect";
import { type BindingOptions, compileRequestBinding } from "./binding/request-binding.ts";
import { compileResponseEncoder } from "./calls/encode-response.ts";
import { compileListPages } from "./calls/list-pages.ts";
import { compileLocator } from "./calls/locate-created.ts";
import { compileEtagCheck } from "./calls/preconditions.ts";
import type { Route, ServableSpec } from "./calls/route.ts";
import { compileSystemParameters } from "./calls/system-parameters.ts";
import { type DeprecationOf, deprecationHeaders } from "./deprecation.ts";
import { createJsonWriters } from "./json/write-json.ts";
import { type HttpRule, nameOf, readHttpRules } from "./routing/http-rules.ts";
import { readConventions } from "./routing/method-conventions.ts";
import { parsePathTemplate, type PathTemplate } from "./routing/path-template.ts";
import { createRouteTrie, type RouteTrie } from "./routing/route-trie.ts";

export interface RouteOptions extends BindingOptions {
  readonly alwaysEmitImplicit: boolean;
  readonly systemParameters: readonly string[];
  readonly deprecationOf: DeprecationOf;
}

/**
 * Compiles the rules of all methods. Methods without a rule are omitted.
 *
 * @throws Error that names the method and its rule if a rule is invalid, if two rules match the same paths, or if a
 *   bidirectional streaming method has a rule.
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
    const deprecation = options.deprecationOf(method);
    const route: Route = {
      spec,
      conventions,
      splitQuery: compileSystemParameters(method.input, options.systemParameters, (paths) =>
        response.selectFields(paths),
      ),
      binding: compileRequestBinding(method.input, rule, template, options),
      checkEtag: compileEtagCheck(conventions),
      response,
      pages: compileListPages(method, rule, writers),
      deprecation: deprecation && deprecationHeaders(deprecation),
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
        "HTTP/1.1 responds only after a request has ended, so bidirectional streaming methods cannot be called over REST";
      throw new Error(`${rule.name}: ${why}`);
    }
    return { spec, rule, template: parsePathTemplate(rule.path) };
  });
}
