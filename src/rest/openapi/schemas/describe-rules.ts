/** Formats the rules of a field for its description. A rule that starts with "must" becomes a sentence with "It". */
export function describeRules(rules: readonly string[]): string {
  const sentences = rules.map((rule) => (rule.startsWith("must ") ? `It ${rule}.` : `${rule.replace(/\.$/, "")}.`));
  return sentences.length > 1 ? sentences.map((sentence) => `- ${sentence}`).join("\n") : sentences.join("");
}
