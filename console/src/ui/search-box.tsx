import { useNavigate, useRouter } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

interface SearchBoxProps {
  readonly label: string;
  readonly value: string;
}

/** How long somebody must have stopped to type before the service searches. */
const pauseMs = 200;

/** Searches by what the URL says: it changes `q` there, and begins at the first page. */
export function SearchBox({ label, value }: SearchBoxProps) {
  const router = useRouter();
  const navigate = useNavigate();
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    // The way back in the browser changes the URL, too.
    if (input.current !== null && document.activeElement !== input.current) input.current.value = value;
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const search = (text: string): void => {
    clearTimeout(timer.current);
    const { pathname } = router.latestLocation;
    timer.current = setTimeout(() => {
      // Somebody may have opened another screen meanwhile, which is still being loaded.
      if (router.latestLocation.pathname !== pathname) return;
      const q = text.trim() === "" ? undefined : text.trim();
      void navigate({ to: ".", search: (before) => ({ ...before, q, page: undefined }), replace: true });
    }, pauseMs);
  };
  return (
    <input
      ref={input}
      type="search"
      className="input search"
      aria-label={label}
      placeholder={label}
      defaultValue={value}
      autoComplete="off"
      onChange={(event) => search(event.target.value)}
    />
  );
}
