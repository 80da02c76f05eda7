import { directoryGuides, scimTexts } from "../../texts/scim-texts.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Section } from "../../ui/page.tsx";
import { scimUrl } from "./scim-url.ts";

const { guide: words } = scimTexts;

/** What is to be done in a directory, for an owner to send to whoever runs it. */
export function DirectoryGuide({ org }: { readonly org: string }) {
  const url = scimUrl(org);
  const docs = `${location.origin}/docs/scim`;
  return (
    <Section title={words.title}>
      <p className="quiet-text before">{words.intro}</p>
      {directoryGuides.map(({ title, steps }, index) => (
        <details key={title} className="guide" open={index === 0}>
          <summary>{title}</summary>
          <ol className="steps">
            {steps(url).map((step) => (
              <li key={step}>{step}</li>
            ))}
          </ol>
          <CopyButton text={asText(title, steps(url), docs)} label={words.copyOf(title)} />
        </details>
      ))}
      <p>
        <a href={docs}>{words.more}</a>
      </p>
    </Section>
  );
}

/** Writes the steps as a message has them. */
const asText = (title: string, steps: readonly string[], docs: string): string =>
  [`${scimTexts.title}: ${title}`, ...steps.map((step, index) => `${index + 1}. ${step}`), docs].join("\n");
