import { type DescMessage, type Message, toJson } from "@bufbuild/protobuf";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { compileRequestBinding } from "../../../src/rest/binding/request-binding.ts";
import type { HttpRule } from "../../../src/rest/routing/http-rules.ts";
import { parsePathTemplate } from "../../../src/rest/routing/path-template.ts";
import { parseRequestTarget } from "../../../src/rest/routing/request-target.ts";
import { createRouteTrie } from "../../../src/rest/routing/route-trie.ts";
import * as library from "../gen/rest/test/v1/library_pb.ts";
import { OddFieldsSchema } from "../gen/rest/test/v1/odd_fields_pb.ts";
import { Proto2MessageSchema } from "../gen/rest/test/v1/parameters2_pb.ts";
import * as parameters from "../gen/rest/test/v1/parameters_pb.ts";
import { encodeRequest, UnencodableError } from "../support/encode-request.ts";
import { arbitraryNoise, createDraw, type Draw } from "./draw.ts";
import { drawMessageRule } from "./draw-message-rules.ts";
import { drawMessage } from "./draw-messages.ts";
import { announce, fuzzCases, fuzzSeed, fuzzTimeoutMs } from "./fuzz-settings.ts";

const messages: [DescMessage, ...DescMessage[]] = [
  parameters.Proto3MessageSchema,
  parameters.ParametersSchema,
  parameters.HelloRequestSchema,
  library.CreateBookRequestSchema,
  library.UpdateBookRequestSchema,
  library.WovenSchema,
  library.MaskedSchema,
  Proto2MessageSchema,
  OddFieldsSchema,
];

const messagesOfRun = 10;

test(
  `binding a request restores the message that was encoded as it, ${fuzzCases} times`,
  { timeout: fuzzTimeoutMs },
  () => {
    announce("bindings");
    let compared = 0;
    const property = fc.property(arbitraryNoise(60 * messagesOfRun), (noise) => {
      const draw = createDraw(noise);
      for (let left = messagesOfRun; left > 0;) if (check(draw)) left--;
      compared += messagesOfRun;
    });
    fc.assert(property, { seed: fuzzSeed, numRuns: Math.ceil(fuzzCases / messagesOfRun) });
    expect(compared).toBeGreaterThanOrEqual(fuzzCases);
  },
);

/** Returns false if the message cannot be encoded as a request of the rule. */
function check(draw: Draw): boolean {
  const desc = messages[draw(messages.length)] ?? messages[0];
  const message = drawMessage(draw, desc);
  const rule = drawMessageRule(draw, desc, message);
  let request;
  try {
    request = encodeRequest(desc, message, rule);
  } catch (error) {
    if (error instanceof UnencodableError) return false;
    throw error;
  }
  const bound = bind(desc, rule, request);
  // Stricter than `equals`: the types of 64-bit integers must match, and NaN equals NaN.
  if (!isDeepStrictEqual(bound, message)) {
    expect({ rule, request, message: toJson(desc, bound) }).toEqual({ rule, request, message: toJson(desc, message) });
    expect(bound, JSON.stringify({ rule, request })).toEqual(message);
    throw new Error(`not the same message: ${JSON.stringify({ rule, request })}`);
  }
  return true;
}

/** Routes the request and binds it. */
function bind(desc: DescMessage, rule: HttpRule, request: ReturnType<typeof encodeRequest>): Message {
  const template = parsePathTemplate(rule.path);
  const trie = createRouteTrie<ReturnType<typeof compileRequestBinding>>();
  const options = { ignoreUnknownFields: false, maxDepth: 100 };
  trie.add(rule.httpMethod, template, compileRequestBinding(desc, rule, template, options), rule.name);
  const { path, query } = parseRequestTarget(request.query === "" ? request.path : `${request.path}?${request.query}`);
  const found = trie.match(request.method, path);
  if (found.route === undefined) throw new Error(`${request.path} does not match ${rule.path}`);
  const body = request.body === undefined ? undefined : Buffer.from(request.body);
  return found.route.bind({ pathValues: found.values, query, body, contentType: undefined });
}
