// What can be found, and by which methods: read from the definitions of the resources, so that a new one is found without a line here.
import type { DescMessage, DescMethod, DescMethodUnary } from "@bufbuild/protobuf";
import { required } from "../errors/required.ts";
import { type PathPattern, type ResourceType, methodNouns, patternsOf } from "../paths/patterns.ts";
import { takesField } from "../rpc/takes-field.ts";
import type { ResourceRegistry } from "../standard-methods/definition/registry.ts";

type Method = DescMethodUnary<DescMessage>;

export interface Finder {
  readonly type: ResourceType;
  readonly patterns: readonly PathPattern[];
  readonly get: Method;
  readonly list: Method;
  /** The field of the response of the list with the resources: `members`. */
  readonly itemsField: string;
  /** Whether lists of one parent are ordered by name and by display name, for each of which there is an index. */
  readonly isNamed: boolean;
}

/** @throws Error for a resource without a Get or List method. */
export function createFinders({ definitions }: Pick<ResourceRegistry, "definitions">): readonly Finder[] {
  return definitions.map(({ type, service, schema }) => {
    const { one, many } = methodNouns(type);
    const unary = service.methods.filter(isUnary);
    const [get, list] = [`Get${one}`, `List${many}`].map((name) => unary.find((method) => method.name === name));
    if (get === undefined || list === undefined) throw new Error(`${type} has no Get${one} or no List${many}`);
    const items = list.output.fields.find(({ fieldKind, message }) => fieldKind === "list" && message === schema);
    const fields = new Set(schema.fields.map(({ name }) => name));
    const isNamed = fields.has("name") && fields.has("display_name") && takesField(list, "order_by");
    return { type, patterns: required(patternsOf(type)), get, list, itemsField: required(items).localName, isNamed };
  });
}

const isUnary = (method: DescMethod): method is Method => method.methodKind === "unary";
