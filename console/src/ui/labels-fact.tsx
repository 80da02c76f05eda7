import { labelTexts } from "../texts/label-texts.ts";
import { CodeLine } from "./code-line.tsx";
import { Fact } from "./facts.tsx";
import { type Labels, writeLabels } from "./labels.ts";

/** The labels of what a screen shows; nothing of what has none. */
export function LabelsFact({ of: { labels } }: { readonly of: { readonly labels: Labels } }) {
  const written = writeLabels(labels);
  if (written === "") return null;
  return (
    <Fact title={labelTexts.title}>
      {written.split("\n").map((label) => (
        <CodeLine key={label}>{label}</CodeLine>
      ))}
    </Fact>
  );
}
