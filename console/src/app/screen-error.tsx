import { useRouter, type ErrorComponentProps } from "@tanstack/react-router";
import { ErrorNote } from "../ui/notes.tsx";

export function ScreenError({ error }: ErrorComponentProps) {
  const router = useRouter();
  return <ErrorNote error={error} retry={() => void router.invalidate()} />;
}
