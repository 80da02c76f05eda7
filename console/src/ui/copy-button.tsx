import { useState } from "react";
import { texts } from "../texts/texts.ts";
import { Button } from "./button.tsx";

/** Copies a text, and says so. */
export function CopyButton({ text, label = texts.copy }: { readonly text: string; readonly label?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <Button kind="quiet" onClick={() => void copy()}>
      <span aria-live="polite">{copied ? texts.copied : label}</span>
    </Button>
  );
}
