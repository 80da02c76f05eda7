import type { KeyboardEvent } from "react";

/**
 * Returns what moves between a field that searches and the links below it with the arrow keys.
 *
 * @param opensFirst whether Enter in the field opens the first link.
 */
export function arrowKeys(opensFirst: boolean): (event: KeyboardEvent<HTMLElement>) => void {
  return (event) => {
    const stops = [...event.currentTarget.querySelectorAll<HTMLElement>("input, a")];
    const at = stops.findIndex((stop) => stop === document.activeElement);
    if (event.key === "Enter" && at === 0 && opensFirst) {
      event.preventDefault();
      stops[1]?.click();
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    stops.at((at + (event.key === "ArrowDown" ? 1 : -1)) % stops.length)?.focus();
  };
}
