export const themes = ["system", "light", "dark"] as const;

export type Theme = (typeof themes)[number];

/** The only thing that the console stores in the browser. */
const storageKey = "tenantry-console-theme";

export function storedTheme(): Theme {
  const stored = localStorage.getItem(storageKey);
  return themes.find((theme) => theme === stored) ?? "system";
}

export function applyTheme(theme: Theme): void {
  document.documentElement.dataset["theme"] = theme;
  if (theme === "system") localStorage.removeItem(storageKey);
  else localStorage.setItem(storageKey, theme);
}
