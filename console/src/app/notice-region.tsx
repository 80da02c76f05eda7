import { useEffect, useState, useSyncExternalStore } from "react";
import { texts } from "../texts/texts.ts";
import { useConsole } from "./console-context.ts";
import type { Notice } from "./notices.ts";

/** How long a notice stays that nobody points at. */
const shownMs = 8_000;

/** Says what was done. It is there before there is anything to say, so that screen readers say it. */
export function NoticeRegion() {
  const { notices } = useConsole();
  const shown = useSyncExternalStore(notices.subscribe, notices.snapshot);
  // Somebody reads it, or is about to close it.
  const [held, setHeld] = useState(false);
  return (
    <div
      className="notices"
      role="status"
      aria-atomic="false"
      aria-label={texts.notices.label}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      {shown.map((notice) => (
        <NoticeLine key={notice.id} notice={notice} held={held} onEnd={notices.dismiss} />
      ))}
    </div>
  );
}

interface NoticeLineProps {
  readonly notice: Notice;
  readonly held: boolean;
  readonly onEnd: (id: number) => void;
}

function NoticeLine({ notice: { id, text }, held, onEnd }: NoticeLineProps) {
  useEffect(() => {
    if (held) return;
    const timer = setTimeout(() => onEnd(id), shownMs);
    return () => clearTimeout(timer);
  }, [id, held, onEnd]);
  return (
    <p className="notice">
      <span>{text}</span>
      <button type="button" className="notice-end" aria-label={texts.notices.close} onClick={() => onEnd(id)}>
        ×
      </button>
    </p>
  );
}
