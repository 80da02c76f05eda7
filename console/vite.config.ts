// Builds the console into dist/console, which the service serves at /console/. What is built has no inline script or style.
import { join } from "node:path";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  base: "/console/",
  plugins: [react()],
  build: {
    outDir: join(import.meta.dirname, "../dist/console"),
    emptyOutDir: true,
    // A data: URL would need an exception in the Content-Security-Policy.
    assetsInlineLimit: 0,
    target: "es2022",
  },
});
