/** What is required of a field, as sentences of its description; each rule goes on after "It ". */
export function describeRules(rules: readonly string[]): string {
  const sentences = rules.map((rule) => (rule.startsWith("must ") ? `It ${rule}.` : `${rule.replace(/\.$/, "")}.`));
  return sentences.length > 1 ? sentences.map((sentence) => `- ${sentence}`).join("\n") : sentences.join("");
}
