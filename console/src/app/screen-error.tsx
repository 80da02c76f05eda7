import { useRouter, type ErrorComponentProps } from "@tanstack/react-router";
import { FailedScreen } from "../ui/screen-of.tsx";

export function ScreenError({ error }: ErrorComponentProps) {
  const router = useRouter();
  return <FailedScreen error={error} retry={() => void router.invalidate()} />;
}
