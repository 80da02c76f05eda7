import { useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import type { Permissions } from "../calls/use-permissions.ts";

/**
 * Returns whether the form for something new is open, which the URL holds, so that a link can lead to it; and how to open and close it.
 *
 * @param permission without which the form would be refused, so that it is not opened.
 */
export function useCreating(
  permissions: Permissions,
  permission: string,
): readonly [boolean, (creating: boolean) => void] {
  const { create } = useSearch({ strict: false });
  const router = useRouter();
  const navigate = useNavigate();
  const set = (creating: boolean): void => {
    // What was created may have led to its own screen.
    const { create: before } = router.latestLocation.search as { readonly create?: boolean };
    if ((before === true) === creating) return;
    const search = (all: object): object => ({ ...all, create: creating ? true : undefined });
    void navigate({ to: ".", search, replace: true });
  };
  return [create === true && permissions.may(permission) === true, set];
}
