import type { JsonWriteOptions } from "@bufbuild/protobuf";
import type { MethodImplSpec } from "@connectrpc/connect";
import { compileResponseEncoder, type ResponseEncoder } from "./calls/encode-response.ts";
import { nameOf, readHttpRules } from "./routing/http-rules.ts";
import { parsePathTemplate } from "./routing/path-template.ts";
import { type BindingOptions, compileRequestBinding, type RequestBinding } from "./binding/request-binding.ts";
import { createRouteTrie, type RouteTrie } from "./routing/route-trie.ts";

type UnarySpec = Extract<MethodImplSpec, { kind: "unary" }>;

/** All that is needed to answer a request that one rule matches. */
export interface Route {
  readonly spec: UnarySpec;
  readonly binding: RequestBinding;
  readonly encode: ResponseEncoder;
}

/**
 * Compiles the rules of all methods; methods without a rule are left out.
 *
 * @throws Error that names the method and its rule when a rule is wrong, two rules match the same paths, or a method that
 *   streams has one.
 */
export function compileRoutes(
  methods: readonly MethodImplSpec[],
  options: BindingOptions & { readonly json: Partial<JsonWriteOptions> },
): RouteTrie<Route> {
  const trie = createRouteTrie<Route>();
  for (const spec of methods) {
    for (const rule of readHttpRules(spec.method)) {
      if (spec.kind !== "unary") {
        throw new Error(`${nameOf(spec.method)}: has an http rule, but only unary methods can be called over REST`);
      }
      const template = parsePathTemplate(rule.path);
      const binding = compileRequestBinding(spec.method.input, rule, template, options);
      const encode = compileResponseEncoder(spec.method.output, rule.responseBody, rule.name, options.json);
      trie.add(rule.httpMethod, template, { spec, binding, encode }, nameOf(spec.method));
    }
  }
  return trie;
}
