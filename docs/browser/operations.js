// Adds the catalog of the running service to the guide to operations. The catalog is data of others: it is only ever set as
// text. The key stays in this page: it is in no URL and in no storage.
const api = "../resources/v1alpha";

/** Creates an element. Attributes that begin with "on" are listeners; children are elements or text. */
function element(name, attributes = {}, ...children) {
  const created = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (attribute.startsWith("on")) created.addEventListener(attribute.slice(2), value);
    else created.setAttribute(attribute, value);
  }
  created.append(...children.filter((child) => child !== ""));
  return created;
}

async function readPage(path, key, pageToken) {
  const query = new URLSearchParams({ page_size: "1000", ...(pageToken !== "" && { page_token: pageToken }) });
  const response = await fetch(`${api}/${path}?${query}`, { headers: { authorization: `Bearer ${key}` } });
  const body = await response.json();
  if (!response.ok) throw new Error(body.error?.message ?? `the service answers ${response.status}`);
  return body;
}

async function readAll(path, field, key) {
  const all = [];
  let pageToken = "";
  do {
    const page = await readPage(path, key, pageToken);
    all.push(...page[field]);
    pageToken = page.next_page_token ?? "";
  } while (pageToken !== "");
  return all;
}

function table(headings, rows) {
  const head = element("tr", {}, ...headings.map((text) => element("th", { scope: "col" }, text)));
  const body = rows.map((cells) => element("tr", {}, ...cells.map((cell) => element("td", {}, cell))));
  const whole = element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
  return element("div", { class: "scrolls", tabindex: "0" }, whole);
}

const code = (text) => element("code", {}, text);
const yes = (value) => (value === true ? "yes" : "");
const amount = (value) => (value === undefined || value === null ? "" : String(value));

/** The variables of an operation, those that it takes before those that it returns. */
function variablesTable(operation, kinds) {
  const quantity = (direction) => (each) => [
    direction,
    code(each.kind),
    kinds.get(each.kind)?.unit ?? "",
    yes(each.required),
    amount(each.minimum),
    amount(each.maximum),
    amount(each.step ?? kinds.get(each.kind)?.step),
    amount(each.default_amount),
    yes(each.counted),
  ];
  const quality = (direction) => (each) => {
    const highest = each.maximum ?? kinds.get(each.kind)?.highest_grade;
    return [direction, code(each.kind), "grade", yes(each.required), "", amount(highest), "", "", ""];
  };
  const reference = (each) => ["input", code(each.name), each.type_path, yes(each.required), "", "", "", "", ""];
  const rows = [
    ...(operation.quantities ?? []).map(quantity("input")),
    ...(operation.qualities ?? []).map(quality("input")),
    ...(operation.references ?? []).map(reference),
    ...(operation.given_quantities ?? []).map(quantity("output")),
    ...(operation.given_qualities ?? []).map(quality("output")),
  ];
  if (rows.length === 0) return element("p", { class: "quiet" }, "It takes and returns no Quantities and Qualities.");
  const headings = ["", "Variable", "Unit or type", "Required", "Minimum", "Maximum", "Step", "Default", "Counted"];
  return table(headings, rows);
}

function describeOperation(type, operation, kinds) {
  const service = type.path.split("/")[2];
  const permission = [service, type.collection, operation.verb].join(".");
  const beside = operation.concurrent ? " It runs beside other concurrent operations of the resource." : "";
  return element(
    "section",
    { class: "catalog-operation" },
    element("h4", {}, operation.verb),
    element("p", {}, operation.description ?? "", " Needs the permission ", code(permission), ".", beside),
    variablesTable(operation, kinds),
  );
}

function describeType(type, kinds) {
  const schema = type.parameters_schema;
  const verbs = type.operations.map(({ verb }) => verb).join(", ");
  const summary = element(
    "summary",
    {},
    element("strong", {}, type.path),
    element("span", { class: "quiet" }, ` ${verbs}`),
  );
  return element(
    "details",
    { class: "catalog-type" },
    summary,
    element("p", {}, type.description ?? ""),
    ...type.operations.map((operation) => describeOperation(type, operation, kinds)),
    ...(schema ? [element("h4", {}, "parameters"), element("pre", {}, code(JSON.stringify(schema, null, 2)))] : []),
  );
}

async function readCatalog(key) {
  const [types, quantityKinds, qualityKinds] = await Promise.all([
    readAll("services/-/resourceTypes", "resource_types", key),
    readAll("quantityKinds", "quantity_kinds", key),
    readAll("qualityKinds", "quality_kinds", key),
  ]);
  types.sort((one, other) => (one.path < other.path ? -1 : 1));
  return { types, kinds: new Map([...quantityKinds, ...qualityKinds].map((kind) => [kind.name, kind])) };
}

async function showCatalog(key, output) {
  output.replaceChildren(element("p", { class: "quiet" }, "Reading the catalog ..."));
  try {
    const { types, kinds } = await readCatalog(key);
    const found = `${types.length} ${types.length === 1 ? "ResourceType" : "ResourceTypes"}`;
    output.replaceChildren(element("p", { class: "quiet" }, found), ...types.map((type) => describeType(type, kinds)));
  } catch (error) {
    output.replaceChildren(element("p", { class: "problem", role: "alert" }, error.message));
  }
}

const output = element("div", { id: "catalog", "aria-live": "polite" });
const input = element("input", { type: "password", autocomplete: "off", spellcheck: "false", required: "" });
const form = element(
  "form",
  {
    class: "catalog-form",
    onsubmit: (event) => {
      event.preventDefault();
      void showCatalog(input.value.trim(), output);
    },
  },
  element("label", {}, "API key or access token", input),
  element("button", { type: "submit" }, "Show the catalog"),
);
document.querySelector("main").append(form, output);
