// The API reference: Swagger UI, with a search over operations, and errors folded away. A plugin replaces these components of
// it; https://swagger.io/docs/open-source-tools/swagger-ui/customization/plugin-api/ documents how.

/** Whether an operation has all words of the search in its section, method, path, id or summary; `deprecated` is one. */
function matches(tag, operation, words) {
  const { path, method } = operation.toObject();
  const described = [operation.getIn(["operation", "operationId"]), operation.getIn(["operation", "summary"])];
  const state = operation.getIn(["operation", "deprecated"]) === true ? "deprecated" : "";
  const text = [tag, method, path, ...described, state].join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}

function findOperations(sections, phrase) {
  const words = phrase.toLowerCase().split(/\s+/);
  return sections
    .map((section, tag) => section.update("operations", (all) => all.filter((each) => matches(tag, each, words))))
    .filter((section) => section.get("operations").size > 0);
}

/** Replaces the filter for sections. */
function createSearch({ React }) {
  const { createElement: h, useEffect, useRef } = React;
  return function Search({ specSelectors, layoutSelectors, layoutActions }) {
    const input = useRef(null);
    useEffect(() => {
      const focus = (event) => {
        if (event.key !== "/" || event.target.closest("input, textarea, select") !== null) return;
        event.preventDefault();
        input.current.focus();
      };
      document.addEventListener("keydown", focus);
      return () => document.removeEventListener("keydown", focus);
    }, []);
    const phrase = layoutSelectors.currentFilter();
    const sections = specSelectors.taggedOperations();
    const count = sections.reduce((sum, section) => sum + section.get("operations").size, 0);
    const showAll = (isShown) => {
      for (const tag of sections.keySeq()) layoutActions.show(["operations-tag", tag], isShown);
    };
    return h(
      "div",
      { className: "search wrapper", role: "search" },
      h("input", {
        ref: input,
        type: "search",
        placeholder: "Search operations, such as: list members",
        "aria-label": "Search operations",
        value: typeof phrase === "string" ? phrase : "",
        onChange: ({ target }) => layoutActions.updateFilter(target.value),
      }),
      h("span", { role: "status" }, `${count} ${count === 1 ? "operation" : "operations"}`),
      h("button", { type: "button", onClick: () => showAll(true) }, "Open all"),
      h("button", { type: "button", onClick: () => showAll(false) }, "Close all"),
    );
  };
}

/**
 * Replaces the list of sections. The original keeps only the visible rows in the page as soon as there are 150 rows; rows of
 * different heights then overlap or vanish. A search opens all sections that have results.
 */
function createOperations({ React }) {
  const { createElement: h } = React;
  return function Operations({
    specSelectors,
    oas3Selectors,
    layoutSelectors,
    layoutActions,
    getComponent,
    getConfigs,
  }) {
    const Section = getComponent("OperationTag");
    const Operation = getComponent("OperationContainer", true);
    const sections = specSelectors.taggedOperations();
    const isSearch = typeof layoutSelectors.currentFilter() === "string" && layoutSelectors.currentFilter() !== "";
    if (sections.size === 0) return h("p", { className: "no-result" }, "No operation has all of these words.");
    const shared = { oas3Selectors, layoutActions, getConfigs, getComponent, specUrl: specSelectors.url() };
    return h(
      "div",
      null,
      sections
        .map((section, tag) => {
          const isShown = isSearch || layoutSelectors.isShown(["operations-tag", tag], false);
          const selectors = { ...layoutSelectors, isShown: () => isShown };
          const rows = section.get("operations").map((operation) => {
            const { path, method, specPath } = operation.toObject();
            return h(Operation, { key: `${method} ${path}`, specPath, op: operation, path, method, tag });
          });
          const props = { ...shared, key: tag, tag, tagObj: section, layoutSelectors: selectors };
          return h(Section, props, isShown ? h("div", { className: "operation-tag-content" }, rows.toArray()) : null);
        })
        .valueSeq()
        .toArray(),
    );
  };
}

/** Folds the errors of an operation, which are the same for most, into a row each. */
function foldErrors(Response, { React }) {
  const { createElement: h, Fragment, useState } = React;
  return function FoldedResponse(props) {
    const { code, response } = props;
    const [isOpen, setOpen] = useState(false);
    if (/^[123]/.test(code)) return h(Response, props);
    const toggle = { type: "button", "aria-expanded": isOpen, onClick: () => setOpen(!isOpen) };
    const row = h(
      "tr",
      { className: "folded-response" },
      h("td", null, code),
      h("td", { colSpan: 2 }, h("button", toggle, response.get("description").replaceAll("`", ""))),
    );
    return h(Fragment, null, row, isOpen ? h(Response, props) : null);
  };
}

/** Replaces references by what they refer to. A schema that contains itself ends where it would begin again. */
function dereference(node, document, open = []) {
  if (Array.isArray(node)) return node.map((each) => dereference(each, document, open));
  if (node === null || typeof node !== "object") return node;
  const { $ref, ...others } = node;
  const rest = Object.entries(others).map(([key, value]) => [key, dereference(value, document, open)]);
  if (typeof $ref !== "string") return Object.fromEntries(rest);
  if (open.includes($ref)) return { description: `${$ref.split("/").at(-1)}, as above` };
  const keys = $ref.slice(2).split("/");
  const target = keys.reduce((at, key) => at[key.replaceAll("~1", "/").replaceAll("~0", "~")], document);
  // Swagger UI takes the name of a schema from the last member.
  return { ...dereference(target, document, [...open, $ref]), ...Object.fromEntries(rest), $$ref: $ref };
}

/** Replaces the resolver, which reads the whole document anew whenever an operation is opened: that takes seconds. */
function resolveQuickly(original, { specSelectors, specActions }) {
  return (path) => {
    const document = specSelectors.specJson().toJS();
    const node = path.reduce((at, key) => at?.[key], document);
    specActions.updateResolvedSubtree(path, dereference(node ?? {}, document));
  };
}

/** Follows a link to an operation by the browser's own scrolling, which leaves room for the search at the top. */
const scrollInto = () => (element) => {
  (element.querySelector(".opblock, .opblock-tag") ?? element).scrollIntoView();
  return { type: "scrolled" };
};

const plugin = (system) => ({
  fn: { opsFilter: findOperations },
  statePlugins: {
    spec: { wrapActions: { requestResolvedSubtree: resolveQuickly } },
    layout: { wrapActions: { scrollToElement: scrollInto } },
  },
  components: { FilterContainer: createSearch(system), operations: createOperations(system) },
  wrapComponents: { response: foldErrors },
});

/** Swagger UI has a dark theme but no setting that follows the one of the system. */
const dark = matchMedia("(prefers-color-scheme: dark)");
const applyTheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", applyTheme);
applyTheme();

SwaggerUIBundle({
  url: "../openapi.json",
  dom_id: "#reference",
  plugins: [plugin],
  filter: true,
  deepLinking: true,
  docExpansion: "none",
  defaultModelsExpandDepth: 0,
  defaultModelRendering: "example",
  displayRequestDuration: true,
  // Nothing leaves this host, and a token is forgotten with the page.
  validatorUrl: null,
  persistAuthorization: false,
});
