import { lazy, Suspense, useCallback, useEffect, useState } from "react";
import { texts } from "../texts/texts.ts";
import { Button } from "../ui/button.tsx";

/** Loaded when somebody searches. */
const FindDialog = lazy(async () => ({ default: (await import("./find-dialog.tsx")).FindDialog }));

/** Opens the search, as Ctrl-K does. */
export function FindButton() {
  const [open, setOpen] = useState(false);
  const [wanted, setWanted] = useState(false);
  const show = useCallback((): void => {
    setWanted(true);
    setOpen(true);
  }, []);
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      show();
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, [show]);
  return (
    <>
      <Button kind="quiet" aria-keyshortcuts="Control+K" onClick={show}>
        {texts.find.button}
        <kbd className="quiet-text wide">Ctrl K</kbd>
      </Button>
      {wanted ? (
        <Suspense>
          <FindDialog open={open} onClose={() => setOpen(false)} />
        </Suspense>
      ) : null}
    </>
  );
}
