import type { Argument, FilterNode, Value } from "../../src/filters/syntax-tree.ts";

/** Renders the tree of a filter: operators first, every group in parentheses, strings in quotes, wildcards as `*`. */
export function renderTree(node: FilterNode | undefined): string {
  switch (node?.kind) {
    case undefined:
      return "nothing";
    case "and":
    case "or":
      return `(${node.kind} ${node.nodes.map(renderTree).join(" ")})`;
    case "not":
      return `(not ${renderTree(node.node)})`;
    case "global":
      return renderArgument(node.comparable);
    case "restriction":
      return `[${renderArgument(node.comparable)} ${node.comparator} ${renderArgument(node.argument)}]`;
  }
}

function renderArgument(argument: Argument): string {
  switch (argument.kind) {
    case "member":
      return argument.values.map(renderValue).join(".");
    case "function":
      return `${argument.name}()`;
    case "composite":
      return renderTree(argument.node);
  }
}

function renderValue({ parts, quoted }: Value): string {
  const escaped = parts.map((part) => part.replaceAll("*", String.raw`\*`)).join("*");
  return quoted ? JSON.stringify(escaped) : escaped;
}
