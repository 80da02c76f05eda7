// Writes deploy/grafana/dashboard.json: the rows and panels below, in the form that Grafana 10 and newer import.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { rows } from "./dashboard/rows.ts";
import { writeDashboard } from "./dashboard/write-dashboard.ts";

writeFileSync(join(import.meta.dirname, "../deploy/grafana/dashboard.json"), writeDashboard(rows));
